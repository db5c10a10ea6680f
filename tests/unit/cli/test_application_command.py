"""Application mode and bundles, as far as they can be checked without a cluster; with one: tests/integration."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile

import pytest
from click.testing import CliRunner

from headrace.cli.app import app
from headrace.cli.application_command import make_application, submit_command
from headrace.cli.run_command import make_bundle, module_of
from headrace.common.errors import ConfigurationError

PROGRAM = """
import sys
import helper, package.inner
from headrace.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
rows = list(env.from_collection(["a"]).map(lambda word: helper.shout(word) + package.inner.MARK).execute_and_collect())
print(rows, sys.argv[1:], env.get_parallelism())
"""


@pytest.fixture
def job(tmp_path):
    (tmp_path / "helper.py").write_text("def shout(word):\n    return word.upper()\n")
    (tmp_path / "libraries" / "package").mkdir(parents=True)
    (tmp_path / "libraries" / "package" / "__init__.py").touch()
    (tmp_path / "libraries" / "package" / "inner.py").write_text("MARK = '!'\n")
    (tmp_path / "my-job.py").write_text(PROGRAM)
    return tmp_path / "my-job.py"


def test_the_application_runs_from_wherever_it_is_unpacked(job, tmp_path):
    """What happens on YARN and Kubernetes beside the driver, without these."""
    files = f"{tmp_path}/helper.py,{tmp_path}/libraries/package"
    settings = {"headrace.executor": "local", "parallelism.default": "3", "python.files": files}
    make_application(job, settings, tmp_path / "app")
    submit_command(tmp_path / "app", "my-job", {"spark.master": "yarn"}, [])
    elsewhere = tmp_path / "elsewhere"
    with zipfile.ZipFile(tmp_path / "app.zip") as archive:
        archive.extractall(elsewhere / "application")
    for path in (tmp_path / "helper.py", job):
        path.unlink()
    done = subprocess.run(
        [sys.executable, "application/application_driver.py", "application", "--x"],
        cwd=elsewhere, capture_output=True, text=True, check=False, env={**os.environ, "HEADRACE_PROPERTIES": ""},
    )  # fmt: skip
    assert done.stdout == "['A!'] ['--x'] 3\n", done.stderr


def test_the_commands_for_yarn_and_kubernetes(job, tmp_path):
    for master in ("yarn", "k8s://https://host:443"):
        settings = ["-D", f"spark.master={master}", "-D", "spark.executor.instances=2"]
        cluster = ["-D", f"headrace.cluster.dir={tmp_path}/c"]
        words = ["run-application", "--json", "--print-command", *settings, *cluster, str(job), "--x"]
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
        command = json.loads(done.stdout)["command"]
        assert command[1:7] == ["--master", master, "--deploy-mode", "cluster", "--name", "my-job"]
        assert "spark.executor.instances=2" in command
        archive = command[command.index("--archives") + 1]
        assert archive.endswith(".zip#application") and command[-2:] == ["application", "--x"]
    assert not (tmp_path / "c").exists(), "printing makes nothing"


@pytest.mark.parametrize("master", [None, "local[2]"])
def test_a_master_that_is_no_cluster_is_refused(job, master):
    words = [] if master is None else ["-D", f"spark.master={master}"]
    done = CliRunner().invoke(app, ["run-application", *words, str(job)])
    assert isinstance(done.exception, ConfigurationError) and "does not name one" in str(done.exception)


def test_supervision_needs_a_name(tmp_path):
    settings = {"spark.master": "spark://m:7077"}
    assert "--supervise" not in submit_command(tmp_path, "a", settings, [])
    assert "--supervise" in submit_command(tmp_path, "a", {**settings, "headrace.job.id": "count"}, [])


def test_a_bundle_is_one_path_to_import_from(job, tmp_path):
    with zipfile.ZipFile(tmp_path / "more.zip", "w") as archive:
        archive.writestr("deep/module.py", "X = 1")
        archive.writestr("helper.py", "the second of two is not found by imports")
    paths = f"{tmp_path}/helper.py,{tmp_path}/libraries,{tmp_path}/libraries/package,{tmp_path}/more.zip"
    assert make_bundle(job, {"python.files": paths, "a": "1"}, tmp_path / "bundle.zip") == {"a": "1"}
    assert module_of(job) == "my_job"
    with zipfile.ZipFile(tmp_path / "bundle.zip") as bundle:
        names = bundle.namelist()
        assert sorted(names) == ["deep/module.py", "helper.py", "my_job.py", "package/__init__.py", "package/inner.py"]
        assert bundle.read("helper.py").startswith(b"def shout")
    with pytest.raises(ConfigurationError, match="does not exist"):
        make_bundle(job, {"python.files": f"{tmp_path}/nowhere"}, tmp_path / "b.zip")


def test_a_bundle_has_what_only_functions_need_in_a_directory_of_its_own(job, tmp_path):
    (tmp_path / "r.txt").write_text("one==1.0\n")
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "one.whl").write_text("one")
    with zipfile.ZipFile(tmp_path / "data.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x", "x" * 10_000)
    settings = {
        "python.requirements": f"{tmp_path}/r.txt#{tmp_path}/wheels",
        "python.archives": f"{tmp_path}/data.zip#data,{tmp_path}/data.zip",
    }
    moved = make_bundle(job, settings, tmp_path / "bundle.zip")
    assert moved == {
        "python.requirements": "headrace-files/0/r.txt#headrace-files/1/wheels",
        "python.archives": "headrace-files/2/data.zip#data,headrace-files/3/data.zip",
    }
    with zipfile.ZipFile(tmp_path / "bundle.zip") as bundle:
        assert bundle.read("headrace-files/1/wheels/one.whl") == b"one"
        assert bundle.read("headrace-files/3/data.zip") == (tmp_path / "data.zip").read_bytes()
        own = [entry for entry in bundle.infolist() if entry.filename.startswith("headrace-files/")]
        assert all(entry.compress_type == zipfile.ZIP_STORED for entry in own) and len(own) == 5
    for key in settings:
        with pytest.raises(ConfigurationError, match="does not exist"):
            make_bundle(job, {key: f"{tmp_path}/nowhere"}, tmp_path / "b.zip")
