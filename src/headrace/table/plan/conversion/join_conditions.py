"""Conditions of joins, taken apart: equal keys, bounds between times, and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headrace.table.plan.relations import Join, Relation, TemporalJoin
from headrace.table.plan.rex import Call, InputRef, Literal, Rex, input_columns
from headrace.table.plan.rules.conditions import MIRRORED, comparison, conjunction, conjuncts
from headrace.types.logical_types import DataType, DayTimeIntervalType, TimeAttribute


@dataclass(frozen=True)
class JoinCondition:
    """Equal keys of both sides, whether null equals null per key, and the rest of the condition."""

    left_keys: tuple[int, ...]
    right_keys: tuple[int, ...]
    null_safe: tuple[bool, ...]
    rest: tuple[Rex, ...]

    @property
    def remaining(self) -> Rex | None:
        """Return the rest as one condition."""
        return conjunction(self.rest)


def analysed(join: Join | TemporalJoin) -> JoinCondition:
    """Return the parts of a join's condition."""
    width = len(join.left.row_type)
    pairs: dict[tuple[int, int], bool] = {}
    rest: list[Rex] = []
    for part in conjuncts(join.condition):
        pair = _equal_columns(part, width)
        if pair is None:
            rest.append(part)
        else:
            left, right, null_safe = pair
            pairs[left, right] = pairs.get((left, right), True) and null_safe
    return JoinCondition(
        tuple(left for left, _ in pairs), tuple(right for _, right in pairs), tuple(pairs.values()), tuple(rest)
    )


def _equal_columns(part: Rex, width: int) -> tuple[int, int, bool] | None:
    found = comparison(part)
    if found is None or found[0] not in ("=", "IS NOT DISTINCT FROM"):
        return None
    name, one, other = found
    if not (isinstance(one, InputRef) and isinstance(other, InputRef)):
        return None
    if one.index >= width:
        one, other = other, one
    if one.index >= width or other.index < width or not _same_key(one.type, other.type):
        return None
    return one.index, other.index - width, name != "="


def _same_key(one: DataType, other: DataType) -> bool:
    """Return whether equal values of two types have the same internal form, so that they are equal keys."""
    return type(one) is type(other) or {type(one).__name__, type(other).__name__} <= _COMPATIBLE


_COMPATIBLE = {"TinyIntType", "SmallIntType", "IntType", "BigIntType"}


@dataclass(frozen=True)
class TimeBounds:
    """left.time + lower <= right.time <= left.time + upper, in milliseconds, and what remains of the condition."""

    left_time: int
    right_time: int
    lower: int
    upper: int
    event_time: bool
    rest: tuple[Rex, ...]


def time_bounds(join: Join, rest: Sequence[Rex]) -> TimeBounds | None:
    """Return the bounds between the time attributes of both sides; None if the condition does not have both bounds."""
    width = len(join.left.row_type)
    bounds: dict[tuple[int, int], tuple[list[int], list[int], list[Rex]]] = {}
    for part in rest:
        found = _bound(part, join, width)
        if found is None:
            continue
        left, right, lower, upper = found
        lowers, uppers, used = bounds.setdefault((left, right), ([], [], []))
        lowers += [] if lower is None else [lower]
        uppers += [] if upper is None else [upper]
        used.append(part)
    for (left, right), (lowers, uppers, used) in bounds.items():
        if lowers and uppers:
            event_time = _attribute(join.left, left) is TimeAttribute.ROWTIME
            kept = tuple(part for part in rest if part not in used)
            return TimeBounds(left, right, max(lowers), min(uppers), event_time, kept)
    return None


def _attribute(relation: Relation, column: int) -> TimeAttribute | None:
    return getattr(relation.row_type.fields[column].data_type, "time_attribute", None)


def _bound(part: Rex, join: Join, width: int) -> tuple[int, int, int | None, int | None] | None:
    """Return the times that a conjunct compares, with the lower and upper bound that it means."""
    found = comparison(part)
    if found is None or found[0] in ("<>", "IS NOT DISTINCT FROM"):
        return None
    name, one, other = found
    first, second = _moved_time(one), _moved_time(other)
    if first is None or second is None:
        return None
    (a, a_shift), (b, b_shift) = first, second
    if a >= width:
        (a, a_shift), (b, b_shift), name = (b, b_shift), (a, a_shift), MIRRORED[name]
    if not a < width <= b:
        return None
    kinds = {_attribute(join.left, a), _attribute(join.right, b - width)}
    if len(kinds) > 1 or None in kinds:
        return None
    shift = a_shift - b_shift  # left + shift (compared with) right
    lower = {"=": shift, "<=": shift, "<": shift + 1}.get(name)
    upper = {"=": shift, ">=": shift, ">": shift - 1}.get(name)
    return a, b - width, lower, upper


def _moved_time(rex: Rex) -> tuple[int, int] | None:
    """Return the column and the milliseconds that are added to it."""
    if isinstance(rex, InputRef):
        return rex.index, 0
    if not isinstance(rex, Call):
        return None
    if rex.function.name in ("CAST", "PROCTIME_MATERIALIZE") and len(rex.arguments) == 1:
        return _moved_time(rex.arguments[0]) if type(rex.arguments[0].type) is type(rex.type) else None
    if rex.function.name not in ("+", "-") or len(rex.arguments) != 2:
        return None
    one, other = rex.arguments
    if rex.function.name == "+" and _interval(one) is not None:
        one, other = other, one
    by, found = _interval(other), _moved_time(one)
    if by is None or found is None:
        return None
    return found[0], found[1] + (by if rex.function.name == "+" else -by)


def _interval(rex: Rex) -> int | None:
    if isinstance(rex, Literal) and isinstance(rex.type, DayTimeIntervalType) and rex.value is not None:
        return int(rex.value)
    return None


def side_columns(parts: Sequence[Rex], width: int) -> tuple[set[int], set[int]]:
    """Return the columns of the left and of the right side that conditions read."""
    used = set().union(*(input_columns(part) for part in parts))
    return {column for column in used if column < width}, {column - width for column in used if column >= width}
