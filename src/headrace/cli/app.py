"""The program `headrace`: puts the commands together and shows errors as people want to read them.

A new command is a click command in a file of its own, listed in `COMMANDS`. Called by the console script and by
`python -m headrace`.
"""

from __future__ import annotations

import sys

import click

from headrace import __version__
from headrace.cli.graph_command import graph
from headrace.cli.state_command import state
from headrace.common.errors import HeadraceError

__all__ = ["app", "main"]

COMMANDS = (graph, state)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="headrace")
def app() -> None:
    """Flink's programming model for Python, executed on Apache Spark."""


for command in COMMANDS:
    app.add_command(command)


def main() -> None:
    """Run the command that the arguments of the process name; an error of headrace is shown without a traceback.

    >>> sorted(app.commands)
    ['graph', 'state']
    """
    try:
        app(prog_name="headrace")
    except HeadraceError as error:
        click.echo(f"headrace: {error}", err=True)
        sys.exit(1)
