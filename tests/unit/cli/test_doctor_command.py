"""`headrace doctor`: what is wrong is found and told, with what to do."""

from __future__ import annotations

import json
import socket

import pytest
from click.testing import CliRunner

from headrace.cli.app import app


@pytest.fixture(autouse=True)
def quiet(tmp_path, monkeypatch):
    monkeypatch.delenv("HEADRACE_CONF_DIR", raising=False)
    monkeypatch.chdir(tmp_path)


def examine(*words):
    done = CliRunner().invoke(app, ["doctor", "--no-spark", "--json", *words])
    checks = {entry["check"]: entry for entry in json.loads(done.stdout)["checks"]}
    return done.exit_code, checks


def test_all_is_well(tmp_path):
    places = [
        "-D",
        "rest.port=0",
        "-D",
        f"execution.checkpointing.dir=file://{tmp_path}/c",
        "-D",
        f"headrace.service.dir={tmp_path}",
    ]
    code, checks = examine(*places)
    assert code == 0, checks
    assert list(checks) == [
        "configuration",
        "java",
        "python",
        "service",
        "temporary directory",
        "execution.checkpointing.dir",
    ]
    assert list((tmp_path / "c").iterdir()) == [], "nothing is left behind"


def test_what_is_wrong_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        words = ["-D", f"rest.port={port}", "-D", f"headrace.service.dir={tmp_path}/s"]
        code, checks = examine(*words, "-D", f"execution.checkpointing.savepoint-dir={tmp_path}/file/below")
    assert code == 1
    assert not checks["service"]["ok"] and "rest.port" in checks["service"]["remedy"]
    storage = checks["execution.checkpointing.savepoint-dir"]
    assert not storage["ok"] and "NotADirectoryError" in storage["seen"] and storage["remedy"]
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    code, checks = examine("-D", "rest.port=0")
    assert code == 1 and "JAVA_HOME" in checks["java"]["seen"] and "openjdk" in checks["java"]["remedy"]


def test_a_broken_configuration_is_the_only_finding(tmp_path):
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "headrace.yaml").write_text("headrace.executer: spark")
    code, checks = examine()
    assert code == 1 and list(checks) == ["configuration"]
    assert checks["configuration"]["remedy"] == "did you mean headrace.executor?"
