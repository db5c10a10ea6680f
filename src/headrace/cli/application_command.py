"""`headrace run-application FILE`: run a program as a driver on the cluster."""

from __future__ import annotations

import re
import subprocess
import uuid
from pathlib import Path
from typing import Any

import click

from headrace.cli.application import make_application, submit_command
from headrace.cli.errors import ServiceError
from headrace.cli.launch import absolute_paths
from headrace.cli.options import json_option, show
from headrace.cli.program_command import ProgramCommand, launch_settings, program_options
from headrace.cli.run_command import existing_program
from headrace.config.config_file import load_configuration
from headrace.config.service_directories import cluster_directory

__all__ = ["run_application"]

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
