"""`headrace run-application FILE`: `spark-submit` runs the program itself on the cluster, as the driver of a Spark application.

1. The program, its settings and its files are copied into one folder, the application.
2. Standalone: `spark-submit` cannot send Python drivers to such a cluster, so it sends the class with which Spark runs
   Python files. The workers must be able to access the folder. Spark restarts the driver of a job that has an id
   (`headrace.job.id`) if it dies.
   YARN and Kubernetes: the folder is sent as an archive, which Spark unpacks beside the driver.
3. There, `application_driver.py` runs the program with its settings.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from headrace.cli.errors import ServiceError
from headrace.cli.launch import absolute_paths
from headrace.cli.options import json_option, show
from headrace.cli.program_command import ProgramCommand, launch_settings, program_options
from headrace.cli.run_command import existing_program
from headrace.cli.spark_daemons import spark_home
from headrace.config.config_file import load_configuration
from headrace.config.headrace_keys import JOB_ID, cluster_directory
from headrace.config.pipeline_keys import FILE_KEYS, MODULES_KEY, moved_settings
from headrace.errors import ConfigurationError
from headrace.spark.java import opened_modules

_DRIVER = "application_driver.py"
_ARCHIVE = "application"
_DRIVER_OPTIONS = "spark.driver.extraJavaOptions"
_SUBMISSION = re.compile(r"\b(driver-\d+-\d+|application_\d+_\d+)\b")


@click.command("run-application", cls=ProgramCommand)
@click.option("--print-command", is_flag=True, help="Print the spark-submit command instead of running it.")
@program_options
@json_option
def run_application(program: str, arguments: tuple[str, ...], print_command: bool, **options: Any) -> None:
    """Run a program on the cluster, as the driver of a Spark application. This command returns at once.

    spark.master names the cluster: spark://host:port, yarn or k8s://... On a standalone cluster, the workers must be able
    to access the directory headrace.cluster.dir, and the driver of a job that has an id (headrace.job.id) is restarted if
    it dies. headrace must be installed where drivers run.

    \b
    headrace run-application -D spark.master=spark://host:7077 -D headrace.cluster.dir=/shared/headrace job.py
    headrace run-application -D spark.master=yarn --print-command job.py
    """
    path = existing_program(program)
    settings = load_configuration(overrides=absolute_paths(launch_settings(**options)))
    folder = cluster_directory(settings).resolve() / "applications" / f"{path.stem}-{uuid.uuid4().hex[:12]}"
    if print_command:
        command = submit_command(folder, path.stem, settings, arguments)
        show({"command": command}, [" ".join(command)])
        return
    submit_command(Path("unused"), path.stem, settings, arguments)  # reject a wrong master before copying any files
    make_application(path, settings, folder)
    done = subprocess.run(
        submit_command(folder, path.stem, settings, arguments), capture_output=True, text=True, check=False
    )
    output = done.stdout + done.stderr
    found = _SUBMISSION.search(output)
    if done.returncode or found is None:
        raise ServiceError(
            "spark-submit could not start the application",
            seen="\n".join(output.splitlines()[-15:]),
            remedy="check spark.master; the output of spark-submit is above",
        )
    show({"submission": found[0], "folder": str(folder)}, [f"Submitted as {found[0]}."])


def make_application(program: Path, settings: Mapping[str, str], folder: Path) -> None:
    """Copy a program and its files into a folder; make the paths in its settings relative to the folder."""
    folder.mkdir(parents=True, mode=0o700)
    (folder / "program").mkdir()
    shutil.copyfile(program, folder / "program" / program.name)
    shutil.copyfile(Path(__file__).with_name(_DRIVER), folder / _DRIVER)
    places: list[str] = []

    def place(path: str) -> str:
        places.append(f"files/{len(places)}/{Path(path).name}")
        _copy(Path(path), folder / places[-1])
        return places[-1]

    moved = moved_settings(settings, place, (MODULES_KEY, *FILE_KEYS))
    facts = {"program": program.name, "settings": moved}
    (folder / "application.json").touch(mode=0o600)
    (folder / "application.json").write_text(json.dumps(facts, indent=1))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    elif source.is_file():
        shutil.copyfile(source, target)
    else:
        raise ConfigurationError("A file of the program does not exist", seen=str(source))


def submit_command(folder: Path, name: str, settings: Mapping[str, str], arguments: Sequence[str]) -> list[str]:
    """Return the `spark-submit` command that starts the application of a folder on `spark.master`.

    >>> made = submit_command(Path("/data/app"), "count", {"spark.master": "spark://m:7077"}, ["--x"])
    >>> made[-4:]
    ['/data/app/application_driver.py', '', '/data/app', '--x']
    """
    master = settings.get("spark.master", "")
    home = spark_home()
    spark = {key: value for key, value in settings.items() if key.startswith("spark.") and key != "spark.master"}
    if master.startswith("spark://"):  # a worker starts drivers without these options
        own = spark.get(_DRIVER_OPTIONS, "")
        spark[_DRIVER_OPTIONS] = " ".join([*opened_modules(), own]).strip()
    command = [str(home / "bin" / "spark-submit"), "--master", master, "--deploy-mode", "cluster", "--name", name]
    command += [part for key, value in sorted(spark.items()) for part in ("--conf", f"{key}={value}")]
    if master.startswith("spark://"):
        jar = min(
            (home / "jars").glob("*.jar"), key=lambda path: path.stat().st_size
        )  # Spark requires a jar; any will do
        # A restarted driver finds its checkpoint only if the job has an id.
        command += ["--supervise"] if JOB_ID.key in settings else []
        command += ["--class", "org.apache.spark.deploy.PythonRunner", f"file:{jar}"]
        return [*command, str(folder / _DRIVER), "", str(folder), *arguments]
    if master == "yarn" or master.startswith("k8s://"):
        archive = shutil.make_archive(str(folder), "zip", folder) if folder.is_dir() else f"{folder}.zip"
        return [*command, "--archives", f"{archive}#{_ARCHIVE}", str(folder / _DRIVER), _ARCHIVE, *arguments]
    raise ConfigurationError(
        "Application mode needs a cluster, and spark.master does not name one",
        seen=master or "spark.master is not set",
        expected="spark://host:port, yarn or k8s://...",
        remedy="set spark.master with -D or in the configuration file; `headrace run` runs programs on this machine",
    )
