"""Query hints: which side of a join, or which aggregate, they are about.

Joins get hints as pairs: `("STATE_TTL", (left, right))` with milliseconds or None, `("LOOKUP", options)`, and strategies
such as `("BROADCAST", ("left",))` with the sides that they name. Aggregates get `("STATE_TTL", (milliseconds,))`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from headrace.config.option_values import parse_duration
from headrace.errors import ConfigurationError
from headrace.table.analysis.errors import invalid, unknown
from headrace.table.analysis.scopes import Scope
from headrace.table.sql.syntax.queries import Hint

ResolvedHint = tuple[str, tuple[Any, ...]]
_STRATEGIES = ("BROADCAST", "SHUFFLE_HASH", "SHUFFLE_MERGE", "NEST_LOOP", "MULTI_JOIN")
_KNOWN = ("OPTIONS", "STATE_TTL", "LOOKUP", *_STRATEGIES)


def check_hints(hints: Iterable[Hint], scope: Scope) -> None:
    """Raise an error for a hint that names a table which the FROM clause does not have."""
    for hint in hints:
        name = hint.name.upper()
        if name not in _KNOWN:
            raise unknown("hint", hint.name, _KNOWN, hint.position)
        known = [each.path[-1] for each in scope.namespaces if each.path]
        if name == "STATE_TTL":
            for table, text in hint.options:
                if table.split(".")[-1] not in known:
                    raise unknown("table", table, known, hint.position)
                _milliseconds(text, hint)
        for table in hint.arguments if name in _STRATEGIES else ():
            if table.split(".")[-1] not in known:
                raise unknown("table", table, known, hint.position)


def join_hints(hints: Iterable[Hint], left: Scope, right: Scope) -> tuple[ResolvedHint, ...]:
    """Return the hints of a query that are about a join of two relations."""
    found: list[ResolvedHint] = []
    sides = (_only_name(left), _only_name(right))
    for hint in hints:
        name = hint.name.upper()
        options = {table.split(".")[-1]: value for table, value in hint.options}
        if name == "STATE_TTL":
            times = tuple(_milliseconds(options[each], hint) if each in options else None for each in sides)
            if any(each is not None for each in times):
                found.append((name, times))
        elif name == "LOOKUP":
            if dict(hint.options).get("table", "").split(".")[-1] == sides[1]:
                found.append((name, hint.options))
        elif name in _STRATEGIES:
            tables = {each.split(".")[-1] for each in hint.arguments}
            named = tuple(side for side, each in zip(("left", "right"), sides, strict=True) if each in tables)
            if named:
                found.append((name, named))
    return tuple(found)


def aggregate_hints(hints: Iterable[Hint], scope: Scope) -> tuple[ResolvedHint, ...]:
    """Return the hints of a query that are about its aggregate: the state TTL of its only table."""
    name = _only_name(scope)
    for hint in hints:
        for table, text in hint.options if hint.name.upper() == "STATE_TTL" else ():
            if table.split(".")[-1] == name:
                return (("STATE_TTL", (_milliseconds(text, hint),)),)
    return ()


def _only_name(scope: Scope) -> str | None:
    # The side of a join that is itself a join keeps its rows in the state of that join.
    [*others, last] = scope.namespaces or ((),)
    return last.path[-1] if not others and last and last.path else None


def _milliseconds(text: str, hint: Hint) -> int:
    try:
        return parse_duration(text).to_millis()
    except ConfigurationError:
        raise invalid(
            f"{text!r} in {hint.name} is not a duration", hint.position, "write it like '12h' or '1 d'"
        ) from None
