"""`headrace state ls|get|diff SAVEPOINT ...`: what is in a savepoint, and what a program would do with it."""

from __future__ import annotations

import ast
import sys
from typing import Any

import click

from headrace.cli.programs import planned
from headrace.state_processor import SavepointReader, savepoint_diff

__all__ = ["state"]

_trust = click.option(
    "--trust", is_flag=True, help="Read it although it does not carry your signature. It can run code."
)


@click.group()
def state() -> None:
    """Look into savepoints."""


@state.command()
@_trust
@click.argument("savepoint")
def ls(savepoint: str, trust: bool) -> None:
    """List the operators and states of SAVEPOINT, and where its sources stand."""
    reader = SavepointReader.read(savepoint, trust)
    for operator in reader.operators():
        click.echo(f"{operator.uid or operator.id}  {operator.name!r}, max parallelism {operator.max_parallelism}")
        for name, kind in sorted(operator.states.items()):
            click.echo(f"    {name}: {kind}")
    for source, splits in reader.source_positions().items():
        for split in splits:
            click.echo(f"{source}  split {split.split.id}: {'finished' if split.finished else repr(split.position)}")


@state.command()
@_trust
@click.argument("savepoint")
@click.argument("uid")
@click.argument("name", metavar="STATE")
@click.argument("key")
def get(savepoint: str, uid: str, name: str, key: str, trust: bool) -> None:
    """Show the value that KEY has in the keyed STATE of the operator UID.

    KEY is a Python literal, as 7 or "('a', 1)"; what is none is taken as text.
    """
    value = SavepointReader.read(savepoint, trust).get(uid, name, _literal(key))
    if value is None:
        click.echo("The key has no value.", err=True)
        sys.exit(1)
    click.echo(repr(value))


@state.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@_trust
@click.argument("savepoint")
@click.argument("program", type=click.Path(exists=True, dir_okay=False))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def diff(savepoint: str, program: str, arguments: tuple[str, ...], trust: bool) -> None:
    """Say what would become of SAVEPOINT's state if PROGRAM were started on it; fails if it would not start.

    The program is run up to its first execute(). ARGUMENTS are passed on to it.
    """
    found = savepoint_diff(savepoint, planned(program, arguments), trust)
    click.echo(str(found))
    if not found.is_restorable():
        sys.exit(1)


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
