"""The program `headrace`: collect the commands, and show errors without a traceback.

To add a command, write a click command and list it in `COMMANDS`. Called by the console script and by `python -m headrace`.
"""

from __future__ import annotations

import difflib
import importlib
import json
import sys

import click

from headrace import __version__
from headrace.cli.errors import INTERRUPTED, exit_code_of
from headrace.errors import HeadraceError

COMMANDS = {
    "run": "run_command:run",
    "run-application": "application_command:run_application",
    "info": "run_command:info",
    "graph": "graph_command:graph",
    "list": "job_commands:list_jobs",
    "cancel": "job_commands:cancel",
    "stop": "job_commands:stop",
    "savepoint": "job_commands:savepoint",
    "checkpoint": "job_commands:checkpoint",
    "rescale": "job_commands:rescale",
    "ui": "job_commands:ui",
    "cluster": "cluster_command:cluster",
    "state": "state_command:state",
    "doctor": "doctor_command:doctor",
}
"""In the order of `--help`. A command is imported when it is called, because most need little of headrace."""


class LazyGroup(click.Group):
    """Imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of `--help`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; return None if the name is unknown."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(f"headrace.cli.{module}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first word names; suggest the closest one if it is unknown."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = difflib.get_close_matches(args[0], COMMANDS, 1)
            if not near:
                raise
            raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", ctx) from None


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="headrace")
def app() -> None:
    """Flink's programming model for Python, executed on Apache Spark.

    \b
    headrace doctor                   check this machine
    headrace run job.py               run a program here
    headrace cluster start            start a local Spark cluster and the job service
    headrace run -d job.py            submit a program to the service
    headrace list                     list running jobs
    headrace ui                       print a link to the web UI
    headrace stop -p DIR JOB          stop with a savepoint
    headrace run -d -s SAVEPOINT job_v2.py

    `headrace COMMAND --help` shows examples. Exit codes: 0 success, 1 failure, 2 wrong usage or configuration, 3 the service
    is unreachable, 4 no such job.
    """


def main() -> None:
    """Run the command that the arguments of the process name.

    Errors of headrace are shown without a traceback, and as JSON with `--json`.

    >>> app.list_commands(click.Context(app))[:2]
    ['run', 'run-application']
    """
    requested: dict[str, bool] = {}
    try:
        sys.exit(app(prog_name="headrace", obj=requested, standalone_mode=False))
    except HeadraceError as error:
        if requested.get("json"):
            _show_as_json(str(error), error.code)
        else:
            click.echo(f"headrace: {error}", err=True)
        sys.exit(exit_code_of(error))
    except click.ClickException as error:
        if "--json" in sys.argv:  # usage errors are found before this option is processed
            _show_as_json(error.format_message(), "USAGE")
        else:
            error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo("Interrupted.", err=True)
        sys.exit(INTERRUPTED)


def _show_as_json(text: str, code: str) -> None:
    click.echo(json.dumps({"errors": [text], "code": code}, indent=2), err=True)
