"""`headrace graph`: the plan of a program, which is not run."""

from __future__ import annotations

import json
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from headrace.cli.app import app
from headrace.cli.errors import exit_code_of
from headrace.common.errors import InvalidProgramError
from headrace.datastream.planning import PlanReached, planning_only

PROGRAM = """
import sys
import helper
from headrace.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
print("building")
env.from_collection(["a"]).map(helper.shout).key_by(len).reduce(max).print()
try:
    env.execute(" ".join(sys.argv[1:]) or "plain")
except Exception:
    print("swallowed")
print("after execute")
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "helper.py").write_text("def shout(word):\n    return word.upper()\n")
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    yield str(path)
    sys.modules.pop("helper", None)


def run(*arguments):
    return CliRunner().invoke(app, ["graph", *arguments])


def test_mermaid_is_the_default(program):
    done = run(program)
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "flowchart LR",
        '    v1(["Source: Collection Source<br/>x 1"])',
        '    v2["Map<br/>x 2"]',
        '    v3[["Reduce<br/>Sink: Print to Std. Out<br/>x 2"]]',
        "    v1 -->|REBALANCE| v2",
        "    v2 -->|HASH| v3",
    ]
    assert done.stderr == "building\n"


def test_other_formats(program):
    assert run("--format", "graphviz", program, "my", "--flag").stdout.startswith('digraph "my --flag" {')
    assert ElementTree.fromstring(run("-f", "svg", program).stdout).tag.endswith("}svg")
    nodes = json.loads(run("-f", "json", program).stdout)["nodes"]
    assert nodes[0]["pact"] == "Data Source" and nodes[-1]["type"] == "Sink: Print to Std. Out"


@pytest.mark.parametrize(
    ("name", "beginning"), [("p.svg", "<svg"), ("p.dot", "digraph"), ("p.json", "{"), ("p.md", "flowchart")]
)
def test_files_have_the_format_of_their_ending(program, tmp_path, name, beginning):
    done = run("-o", str(tmp_path / name), program)
    assert done.exit_code == 0 and done.stdout == ""
    assert (tmp_path / name).read_text().startswith(beginning)


def test_programs_that_give_no_plan(tmp_path):
    quiet = tmp_path / "quiet.py"
    quiet.write_text("x = 1\n")
    broken = tmp_path / "broken.py"
    broken.write_text("from headrace.datastream import StreamExecutionEnvironment as E\nE(None).execute()\n")
    for path, message in ((quiet, "ended without calling execute()"), (broken, "No operators defined")):
        done = subprocess.run(
            [sys.executable, "-m", "headrace", "graph", str(path)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert message in done.stderr and "Traceback" not in done.stderr and done.stdout == ""


def test_errors_of_the_program_keep_their_traceback(tmp_path):
    path = tmp_path / "wrong.py"
    path.write_text("def helper():\n    raise ValueError('my own mistake')\n\n\nhelper()\n")
    done = run(str(path))
    assert isinstance(done.exception, InvalidProgramError) and exit_code_of(done.exception) == 1
    told = str(done.exception)
    assert f'File "{path}", line 5, in <module>' in told and f'File "{path}", line 2, in helper' in told
    assert "ValueError: my own mistake" in told and "runpy" not in told


def test_arguments_are_checked(tmp_path):
    assert "does not exist" in run(str(tmp_path / "nowhere.py")).stderr
    assert "'png' is not one of" in run("-f", "png", __file__).stderr
    assert run("--help").exit_code == 0 and "without running" in run("--help").stdout


def test_the_command_knows_its_version():
    import headrace

    assert headrace.__version__ in CliRunner().invoke(app, ["--version"]).stdout


def test_planning_ends_with_its_block():
    from headrace.common import Configuration
    from headrace.datastream import StreamExecutionEnvironment

    configuration = Configuration().set_string("headrace.executor", "local")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    stream = env.from_collection([1]).map(str)
    for run_it in (env.execute, env.execute_async, stream.execute_and_collect):
        with planning_only(), pytest.raises(PlanReached) as caught:
            run_it()
        assert caught.value.graph.nodes
    after = StreamExecutionEnvironment.get_execution_environment(configuration)
    assert list(after.from_collection([1]).map(str).execute_and_collect()) == ["1"]
