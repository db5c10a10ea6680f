"""`headrace state`: a look into savepoints."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from headrace.cli.app import app
from headrace.common.errors import StateError
from headrace.state_processor import SavepointWriter

PROGRAM = """
import sys
from headrace.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
sums = env.from_collection([("a", 1)]).uid("pairs").key_by(lambda pair: pair[0]).reduce(max).uid(sys.argv[1])
sums.print().uid("out")
env.execute()
"""


@pytest.fixture
def savepoint(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADRACE_STATE_KEY_FILE", str(tmp_path / "state.key"))
    writer = SavepointWriter.new()
    writer.with_keyed_state("sums", "_reduce_state", "table", [("a", ("a", 3)), (7, "seven"), ((1, 2), "pair")])
    return writer.write(str(tmp_path / "savepoint"))


def run(*arguments):
    return CliRunner().invoke(app, ["state", *arguments])


def test_ls(savepoint):
    done = run("ls", savepoint)
    assert done.exit_code == 0
    assert done.stdout.splitlines() == ["sums  'sums', max parallelism 128", "    _reduce_state: table"]


def test_get(savepoint):
    assert run("get", savepoint, "sums", "_reduce_state", "a").stdout == "('a', 3)\n"
    assert run("get", savepoint, "sums", "_reduce_state", "7").stdout == "'seven'\n"
    assert run("get", savepoint, "sums", "_reduce_state", "(1, 2)").stdout == "'pair'\n"
    missing = run("get", savepoint, "sums", "_reduce_state", "b")
    assert (missing.exit_code, missing.stdout, missing.stderr) == (1, "", "The key has no value.\n")


def test_diff(savepoint, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    same = run("diff", savepoint, str(program), "sums")
    assert same.exit_code == 0
    assert same.stdout.splitlines() == [
        "kept     sums: _reduce_state (table)",
        "new      pairs",
        "new      out",
        "A job of this program can start from the savepoint.",
    ]
    other = run("diff", savepoint, str(program), "other")
    assert other.exit_code == 1
    assert other.stdout.startswith("dropped  sums: _reduce_state (table)\n")


def test_trust(savepoint, tmp_path, monkeypatch):
    monkeypatch.setenv("HEADRACE_STATE_KEY_FILE", str(tmp_path / "other.key"))
    assert isinstance(run("ls", savepoint).exception, StateError)
    assert run("ls", "--trust", savepoint).exit_code == 0


def test_scan(savepoint):
    done = run("scan", savepoint, "sums", "_reduce_state")
    assert sorted(done.stdout.splitlines()) == ["'a'  ('a', 3)", "(1, 2)  'pair'", "7  'seven'"]
    assert len(run("scan", "--limit", "2", savepoint, "sums", "_reduce_state").stdout.splitlines()) == 2
    rows = [json.loads(line) for line in run("scan", "--json", savepoint, "sums", "_reduce_state").stdout.splitlines()]
    assert {"key": [1, 2], "value": "pair"} in rows and {"key": "a", "value": ["a", 3]} in rows


def test_json(savepoint):
    listed = json.loads(run("ls", "--json", savepoint).stdout)
    assert listed["operators"][0]["uid"] == "sums" and listed["operators"][0]["states"] == {"_reduce_state": "table"}
    assert json.loads(run("get", "--json", savepoint, "sums", "_reduce_state", "7").stdout) == {
        "key": 7,
        "value": "seven",
    }
