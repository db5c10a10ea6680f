"""The program `headrace`: puts the commands together and shows errors as people want to read them.

A new command is a click command in a file of its own, listed in `COMMANDS`. Called by the console script and by
`python -m headrace`.
"""

from __future__ import annotations

import json
import sys

import click

from headrace import __version__
from headrace.cli.application_command import run_application
from headrace.cli.cluster_command import cluster
from headrace.cli.doctor_command import doctor
from headrace.cli.errors import exit_code_of
from headrace.cli.graph_command import graph
from headrace.cli.job_commands import cancel, checkpoint, list_jobs, rescale, savepoint, stop
from headrace.cli.run_command import info, run
from headrace.cli.state_command import state
from headrace.common.errors import HeadraceError

__all__ = ["app", "main"]

COMMANDS = (
    run,
    run_application,
    info,
    graph,
    list_jobs,
    cancel,
    stop,
    savepoint,
    checkpoint,
    rescale,
    cluster,
    state,
    doctor,
)


class InOrder(click.Group):
    """Lists its commands in the order in which people meet them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give the names as they were added."""
        return list(self.commands)


@click.group(cls=InOrder, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="headrace")
def app() -> None:
    """Flink's programming model for Python, executed on Apache Spark.

    \b
    headrace doctor                   is this machine ready?
    headrace run job.py               run a program here
    headrace cluster start            a local Spark cluster and the job service
    headrace run -d job.py            give a program to the service
    headrace list                     what runs?
    headrace stop -p DIR JOB          stop with a savepoint
    headrace run -d -s SAVEPOINT job_v2.py

    `headrace COMMAND --help` has examples of each. Exit codes: 0 done, 1 failed, 2 wrong use or configuration, 3 the service
    cannot be reached, 4 there is no such job.
    """


for command in COMMANDS:
    app.add_command(command)


def main() -> None:
    """Run the command that the arguments of the process name; an error of headrace is shown without a traceback.

    >>> "run" in app.commands and "state" in app.commands
    True
    """
    wishes: dict[str, bool] = {}
    try:
        app(prog_name="headrace", obj=wishes)
    except HeadraceError as error:
        text = str(error)
        shown = json.dumps({"errors": [text], "code": error.code}, indent=2) if wishes.get("json") else text
        click.echo(shown if wishes.get("json") else f"headrace: {text}", err=True)
        sys.exit(exit_code_of(error))
