"""The program `headrace`: puts the commands together and shows errors as people want to read them.

A new command is a click command in a file of its own, listed in `COMMANDS`. Called by the console script and by
`python -m headrace`.
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

__all__ = ["app", "main"]

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
    "ui": "ui_command:ui",
    "cluster": "cluster_command:cluster",
    "state": "state_command:state",
    "doctor": "doctor_command:doctor",
}
"""In the order in which people meet them. A command is imported when it is called: most need little of headrace."""


class LazyGroup(click.Group):
    """Knows its commands by name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give the names in their order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None if there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(f"headrace.cli.{module}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first word names; if there is none, name the nearest."""
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
    headrace doctor                   is this machine ready?
    headrace run job.py               run a program here
    headrace cluster start            a local Spark cluster and the job service
    headrace run -d job.py            give a program to the service
    headrace list                     what runs?
    headrace ui                       a link to the web UI
    headrace stop -p DIR JOB          stop with a savepoint
    headrace run -d -s SAVEPOINT job_v2.py

    `headrace COMMAND --help` has examples of each. Exit codes: 0 done, 1 failed, 2 wrong use or configuration, 3 the service
    cannot be reached, 4 there is no such job.
    """


def main() -> None:
    """Run the command that the arguments of the process name.

    An error of headrace is shown without a traceback; with `--json`, all errors are JSON.

    >>> app.list_commands(click.Context(app))[:2]
    ['run', 'run-application']
    """
    wishes: dict[str, bool] = {}
    try:
        sys.exit(app(prog_name="headrace", obj=wishes, standalone_mode=False))
    except HeadraceError as error:
        if wishes.get("json"):
            _show_as_json(str(error), error.code)
        else:
            click.echo(f"headrace: {error}", err=True)
        sys.exit(exit_code_of(error))
    except click.ClickException as error:
        if "--json" in sys.argv:  # a wrong use is noticed before the option itself is
            _show_as_json(error.format_message(), "USAGE")
        else:
            error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo("Interrupted.", err=True)
        sys.exit(INTERRUPTED)


def _show_as_json(text: str, code: str) -> None:
    click.echo(json.dumps({"errors": [text], "code": code}, indent=2), err=True)
