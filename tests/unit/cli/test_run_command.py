"""`headrace run` and `headrace info`: options, settings, modules and arguments reach the program."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zipfile

import click
import pytest
from click.testing import CliRunner

from headrace.cli.app import app
from headrace.cli.launch import absolute_paths
from headrace.cli.local_cluster import LocalCluster
from headrace.cli.program_command import ProgramCommand, launch_settings, program_options
from headrace.common.errors import ConfigurationError, InvalidProgramError

PROGRAM = """
import sys
import helper
from headrace.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
print("arguments", sys.argv[1:], "parallelism", env.get_parallelism(), helper.__name__)
env.from_collection(["a"]).map(lambda word: helper.shout(word)).print()
env.execute("try")
"""


@pytest.fixture(autouse=True)
def workplace(tmp_path, monkeypatch):
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "helper.py").write_text("def shout(word):\n    return word.upper()\n")
    (tmp_path / "job.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("helper", None)


def headrace(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "headrace", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HEADRACE_EXECUTOR": "local", **environment},
    )


@pytest.fixture
def parse():
    """Gives what a command line means: parameters of a command with all options of `run`."""

    @click.command(cls=ProgramCommand)
    @click.option("-d", "--detached", is_flag=True)
    @program_options
    def command(**parameters):
        click.echo(json.dumps(parameters))

    def parse(*words):
        done = CliRunner().invoke(command, words)
        assert done.exit_code == 0, done.output
        return {key: value for key, value in json.loads(done.stdout).items() if value not in (None, False, {}, [])}

    return parse


def test_where_the_options_of_headrace_end(parse):
    assert parse("-d", "-p", "4", "job.py", "-p", "7", "--x", "--", "y") == {
        "detached": True, "parallelism": 4, "program": "job.py", "arguments": ["-p", "7", "--x", "--", "y"]
    }  # fmt: skip
    assert parse("-py", "job.py", "-p4", "--input", "-p", "5") == {
        "program": "job.py", "parallelism": 4, "arguments": ["--input", "-p", "5"]
    }  # fmt: skip
    assert parse("--python=job.py", "a", "b") == {"program": "job.py", "arguments": ["a", "b"]}
    assert parse("-Dparallelism.default=3", "-D", "rest.port=0", "job.py") == {
        "settings": {"parallelism.default": "3", "rest.port": "0"}, "program": "job.py"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Missing argument: FILE"),
        (("-d",), "Missing argument: FILE"),
        (("--paralel", "3", "job.py"), "No such option"),
        (("nowhere.py",), "file 'nowhere.py' does not exist"),
        (("-p", "0", "job.py"), "0 is not in the range"),
        (("-D", "nonsense", "job.py"), "expected key=value"),
    ],
)
def test_wrong_use_is_refused(words, message):
    done = CliRunner().invoke(app, ["run", *words])
    assert done.exit_code == 2
    assert message in done.stderr


def test_run_attached(workplace):
    (workplace / "conf").mkdir()
    (workplace / "conf" / "headrace.yaml").write_text("parallelism.default: 2\nheadrace.progress: never\n")
    done = headrace("run", "-pyfs", "modules/helper.py", "job.py", "-p", "7")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "arguments ['-p', '7'] parallelism 2 helper"
    assert done.stdout.splitlines()[1].endswith("A")
    quiet = headrace("run", "--json", "-p", "3", "-pyfs", "modules", "-py", "job.py", "--x")
    assert json.loads(quiet.stdout) == {"program": "job.py", "exit-code": 0, "state": "FINISHED"}
    assert "arguments ['--x'] parallelism 3 helper" in quiet.stderr


def test_exit_codes_and_errors(workplace):
    (workplace / "fails.py").write_text("import sys\nsys.exit(7)\n")
    assert headrace("run", "fails.py").returncode == 7
    unknown = headrace("run", "--json", "-D", "headrace.exekutor=local", "job.py")
    assert unknown.returncode == 2 and unknown.stdout == ""
    error = json.loads(unknown.stderr)
    assert error["code"] == "CONFIGURATION" and "did you mean headrace.executor?" in error["errors"][0]
    nobody = headrace("list", "-m", "127.0.0.1:1")
    assert nobody.returncode == 3 and "headrace cluster start" in nobody.stderr and "Traceback" not in nobody.stderr


def test_wrong_use_is_json_too(workplace):
    for words, told in (
        (("list", "--json", "--runing"), "--runing"),
        (("run", "--json", "nowhere.py"), "file 'nowhere.py' does not exist"),
    ):
        done = headrace(*words)
        assert done.returncode == 2 and done.stdout == ""
        error = json.loads(done.stderr)
        assert error["code"] == "USAGE" and told in error["errors"][0]
    assert "Did you mean 'list'?" in headrace("lst").stderr


def test_a_program_without_a_plan_shows_its_own_traceback(workplace):
    for text, told in (
        ("1 // 0", "ZeroDivisionError"),
        ("x = (", "SyntaxError"),
        ("x = 1", "without calling execute()"),
    ):
        (workplace / "broken.py").write_text(text)
        with pytest.raises(InvalidProgramError) as raised:
            CliRunner().invoke(app, ["info", "broken.py"], catch_exceptions=False)
        assert told in str(raised.value) and "cli/" not in str(raised.value)


def test_clusters_need_workers():
    for key in ("headrace.cluster.workers", "headrace.cluster.worker-cores"):
        with pytest.raises(ConfigurationError, match=f"{key} is too small"):
            LocalCluster({key: "0"})


def test_a_signal_reaches_the_program(workplace):
    (workplace / "waits.py").write_text("import time\nprint('ready', flush=True)\ntime.sleep(60)\n")
    running = subprocess.Popen([sys.executable, "-m", "headrace", "run", "waits.py"], stdout=subprocess.PIPE, text=True)
    assert running.stdout.readline() == "ready\n"
    began = time.monotonic()
    running.send_signal(signal.SIGTERM)
    assert running.wait(20) == 128 + signal.SIGTERM
    assert time.monotonic() - began < 20
    running.stdout.close()


def test_info_shows_the_plan_with_the_options(workplace):
    done = CliRunner().invoke(app, ["info", "-p", "3", "-pyfs", "modules", "job.py"])
    assert done.exit_code == 0, done.output
    nodes = json.loads(done.stdout)["nodes"]
    assert [node["parallelism"] for node in nodes] == [1, 3, 3]
    assert "HEADRACE_CONFIGURATION_FILE" not in os.environ


def test_help_teaches():
    for words in ([], ["run"], ["savepoint"], ["cluster"], ["cluster", "start"], ["state"], ["doctor"], ["list"]):
        done = CliRunner().invoke(app, [*words, "--help"])
        assert done.exit_code == 0
        assert "headrace" in done.stdout.split("Options:")[0].partition("\n")[2] or words[-1:] == ["start"]
    assert "Exit codes" in CliRunner().invoke(app, ["--help"]).stdout


def test_every_command_speaks_json():
    def commands(group, path=()):
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                yield from commands(command, (*path, name))
            else:
                yield " ".join((*path, name)), command

    silent = {name for name, c in commands(app) if not any("--json" in p.opts for p in c.params)}
    assert silent == {"graph"}, "graph has --format json"


def test_zip_files_of_modules_count_too(workplace):
    with zipfile.ZipFile("modules.zip", "w") as archive:
        archive.write("modules/helper.py", "helper.py")
    done = headrace("run", "-pyfs", "modules.zip", "job.py")
    assert done.returncode == 0, done.stderr


def test_what_the_options_mean_as_settings():
    settings = launch_settings(
        {"a": "1"}, 2, "sp", True, "CLAIM", "a.py,b", "r.txt#wheels", "v.zip#venv", "venv/bin/python"
    )
    assert absolute_paths(settings) == {
        "a": "1",
        "parallelism.default": "2",
        "execution.state-recovery.path": "sp",
        "execution.state-recovery.ignore-unclaimed-state": "true",
        "execution.state-recovery.claim-mode": "CLAIM",
        "python.files": f"{os.getcwd()}/a.py,{os.getcwd()}/b",
        "python.requirements": f"{os.getcwd()}/r.txt#{os.getcwd()}/wheels",
        "python.archives": f"{os.getcwd()}/v.zip#venv",
        "python.executable": "venv/bin/python",
    }
