"""Functions of OVER windows only: numbers of rows, ranks, and values of rows before or after the current one.

ROW_NUMBER, RANK, DENSE_RANK and LAG have a running form. The others need all rows of a partition: `WholePartition` names
the function, and the operator of OVER computes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from headrace.table.functions.aggregates.numbers import is_integer
from headrace.table.functions.definition import (
    Accumulation,
    AggregateFunction,
    Argument,
    ArgumentError,
    CallSite,
    Infer,
    Signature,
)
from headrace.types import logical_types as t


class RowNumber(Accumulation):
    """ROW_NUMBER: the number of rows so far."""

    can_retract = False

    def create(self) -> Any:
        return 0

    def add(self, accumulator: Any, *arguments: Any) -> Any:
        return accumulator + 1

    def result(self, accumulator: Any) -> Any:
        return accumulator


class Rank(RowNumber):
    """RANK: [rank, number of rows, values of the last row]. The arguments are the values that the rows are ordered by.

    >>> rank, accumulator = Rank(), Rank().create()
    >>> [rank.result(accumulator := rank.add(accumulator, value)) for value in (5, 5, 7)]
    [1, 1, 3]
    """

    def create(self) -> Any:
        return [0, 0, None]

    def add(self, accumulator: Any, *arguments: Any) -> Any:
        rank, rows, last = accumulator
        return [rank if rows and last == arguments else rows + 1, rows + 1, arguments]

    def result(self, accumulator: Any) -> Any:
        return accumulator[0]


class DenseRank(Rank):
    """DENSE_RANK: as RANK, without gaps."""

    def add(self, accumulator: Any, *arguments: Any) -> Any:
        rank, rows, last = accumulator
        return [rank if rows and last == arguments else rank + 1, rows + 1, arguments]


class Lag(RowNumber):
    """LAG(value, offset, default): [last values, value for the current row]. As in Flink, the default replaces NULL, too."""

    def create(self) -> Any:
        return [[], None]

    def add(self, accumulator: Any, *arguments: Any) -> Any:
        value, offset, default = (*arguments, *_LAG_DEFAULTS[len(arguments) - 1 :])
        before = [*accumulator[0], value]
        current = before[-1 - offset] if len(before) > offset else None
        return [before[-offset:] if offset else [], default if current is None else current]

    def result(self, accumulator: Any) -> Any:
        return accumulator[1]


_LAG_DEFAULTS: tuple[Any, ...] = (1, None)


@dataclass(frozen=True)
class WholePartition(Accumulation):
    """A function that needs all rows of a partition: LEAD, NTILE, PERCENT_RANK or CUME_DIST."""

    name: str
    can_retract = False


def _count(name: str) -> Infer:
    def infer(arguments: Sequence[Argument]) -> Signature:
        if arguments:
            raise ArgumentError(f"{name} takes no arguments")
        return Signature((), t.BigIntType(is_nullable=False))

    return infer


def _share(name: str) -> Infer:
    def infer(arguments: Sequence[Argument]) -> Signature:
        if arguments:
            raise ArgumentError(f"{name} takes no arguments")
        return Signature((), t.DoubleType(is_nullable=False))

    return infer


def _infer_ntile(arguments: Sequence[Argument]) -> Signature:
    if len(arguments) != 1 or not is_integer(arguments[0].type):
        raise ArgumentError("NTILE takes a positive integer")
    return Signature((arguments[0].type,), t.BigIntType(is_nullable=False))


def _neighbour(name: str) -> Infer:
    def infer(arguments: Sequence[Argument]) -> Signature:
        if not 1 <= len(arguments) <= 3:
            raise ArgumentError(f"{name} takes a value, and optionally an offset and a default")
        kinds = [argument.type for argument in arguments]
        if len(kinds) > 1 and not is_integer(kinds[1]):
            raise ArgumentError(f"{name} takes an integer as its offset")
        nullable = len(kinds) < 3 or kinds[0].is_nullable or kinds[2].is_nullable
        result = kinds[0].nullable() if nullable else kinds[0]
        return Signature((*kinds[:2], *(kinds[0].nullable() for _ in kinds[2:])), result)

    return infer


def _running(made: Callable[[], Accumulation]) -> Callable[[CallSite], Accumulation]:
    return lambda site: made()


def _whole(name: str) -> Callable[[CallSite], Accumulation]:
    return lambda site: WholePartition(name)


FUNCTIONS = (
    AggregateFunction("ROW_NUMBER", _count("ROW_NUMBER"), _running(RowNumber), over_only=True),
    AggregateFunction("RANK", _count("RANK"), _running(Rank), over_only=True),
    AggregateFunction("DENSE_RANK", _count("DENSE_RANK"), _running(DenseRank), over_only=True),
    AggregateFunction("LAG", _neighbour("LAG"), _running(Lag), over_only=True),
    AggregateFunction("LEAD", _neighbour("LEAD"), _whole("LEAD"), over_only=True),
    AggregateFunction("NTILE", _infer_ntile, _whole("NTILE"), over_only=True),
    AggregateFunction("PERCENT_RANK", _share("PERCENT_RANK"), _whole("PERCENT_RANK"), over_only=True),
    AggregateFunction("CUME_DIST", _share("CUME_DIST"), _whole("CUME_DIST"), over_only=True),
)
