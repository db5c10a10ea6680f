"""`headrace state ls|get|scan|diff SAVEPOINT ...`: inspect a savepoint, and check whether a program can restore it."""

from __future__ import annotations

import ast
import itertools
import json
import sys
from collections.abc import Iterator
from typing import Any

import click

from headrace.cli.launch import planned
from headrace.cli.options import json_option, show, wants_json
from headrace.state_processor import SavepointReader, savepoint_diff

_trust = click.option("--trust", is_flag=True, help="Read it even without your signature. A savepoint can run code.")


@click.group()
def state() -> None:
    """Inspect savepoints and checkpoints.

    \b
    headrace state ls SAVEPOINT                     operators and their states
    headrace state get SAVEPOINT counter count a    one value
    headrace state scan SAVEPOINT counter count     all keys and values
    headrace state diff SAVEPOINT job_v2.py         can the new version start from it?
    """


@state.command()
@_trust
@json_option
@click.argument("savepoint")
def ls(savepoint: str, trust: bool) -> None:
    """List the operators and states of SAVEPOINT, and the positions of its sources."""
    reader = SavepointReader.read(savepoint, trust)
    positions = reader.source_positions()
    operators = [
        {"uid": o.uid, "id": o.id, "name": o.name, "maxParallelism": o.max_parallelism, "states": dict(o.states)}
        for o in reader.operators()
    ]
    sources = {
        source: [{"split": str(s.split.id), "finished": s.finished, "position": repr(s.position)} for s in splits]
        for source, splits in positions.items()
    }
    show({"operators": operators, "sources": sources}, _listed(operators, sources))


def _listed(operators: list[dict[str, Any]], sources: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    for operator in operators:
        yield f"{operator['uid'] or operator['id']}  {operator['name']!r}, max parallelism {operator['maxParallelism']}"
        for name, kind in sorted(operator["states"].items()):
            yield f"    {name}: {kind}"
    for source, splits in sources.items():
        for split in splits:
            yield f"{source}  split {split['split']}: {'finished' if split['finished'] else split['position']}"


@state.command()
@_trust
@json_option
@click.argument("savepoint")
@click.argument("uid")
@click.argument("name", metavar="STATE")
@click.argument("key")
def get(savepoint: str, uid: str, name: str, key: str, trust: bool) -> None:
    """Show the value of KEY in the keyed STATE of the operator UID.

    KEY is a Python literal, such as 7 or "('a', 1)"; anything else is a string.
    """
    value = SavepointReader.read(savepoint, trust).get(uid, name, _literal(key))
    if value is None and not wants_json():
        click.echo("The key has no value.", err=True)
    else:
        show({"key": _plain(_literal(key)), "value": _plain(value)}, [repr(value)])
    if value is None:
        sys.exit(1)


@state.command()
@_trust
@json_option
@click.option("-l", "--limit", type=click.IntRange(min=1), help="Show at most this many.")
@click.argument("savepoint")
@click.argument("uid")
@click.argument("name", metavar="STATE")
def scan(savepoint: str, uid: str, name: str, limit: int | None, trust: bool) -> None:
    """Show all keys and values of the keyed STATE of the operator UID, one per line.

    With --json each line is a separate JSON document, so that large states can be processed as a stream.
    """
    rows = SavepointReader.read(savepoint, trust).keyed_state(uid, name)
    for row in itertools.islice(rows, limit):
        key, *window, value = row
        if wants_json():
            shown = {"key": _plain(key), **({"window": _plain(window[0])} if window else {}), "value": _plain(value)}
            click.echo(json.dumps(shown, ensure_ascii=False))
        else:
            click.echo("  ".join(map(repr, row)))


def _plain(value: Any) -> Any:
    """Return the value if JSON can represent it, otherwise its `repr`."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain(item) for key, item in value.items()}
    return repr(value)


@state.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@_trust
@json_option
@click.argument("savepoint")
@click.argument("program", type=click.Path(exists=True, dir_okay=False))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def diff(savepoint: str, program: str, arguments: tuple[str, ...], trust: bool) -> None:
    """Show what happens to SAVEPOINT's state if PROGRAM starts from it; fail if it cannot start.

    The program runs up to its first execute(). ARGUMENTS are passed on to it.
    """
    found = savepoint_diff(savepoint, planned(program, arguments), trust)
    show({"restorable": found.is_restorable(), "lines": str(found).splitlines()}, [str(found)])
    if not found.is_restorable():
        sys.exit(1)


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
