"""The aggregates of OVER for one key: accumulators, and the ranking functions that depend on the order of rows.

Decides how a row is added to and removed from all of them. ROW_NUMBER, RANK, DENSE_RANK and LAG are computed here, because
they need to know the order; all other functions have their accumulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace.graph.table_specs import AggregateSpec
from headrace.operators.table.keyed import Row


class RowNumber:
    """ROW_NUMBER, also COUNT of all rows."""

    can_retract = True

    def create(self) -> Any:
        return 0

    def add(self, accumulator: Any, *arguments: Any) -> Any:
        return accumulator + 1

    def retract(self, accumulator: Any, *arguments: Any) -> Any:
        return accumulator - 1

    def result(self, accumulator: Any) -> Any:
        return accumulator


class Rank:
    """RANK: [rows, rank of the current peers, order of the current peers]."""

    can_retract = False

    def create(self) -> Any:
        return [0, 0, ()]

    def add(self, accumulator: Any, *order: Any) -> Any:
        accumulator[0] += 1
        if accumulator[1] == 0 or order != accumulator[2]:
            accumulator[1:] = self.next(accumulator), order
        return accumulator

    def next(self, accumulator: Any) -> int:
        """Return the rank of the next peers."""
        return int(accumulator[0])

    def result(self, accumulator: Any) -> Any:
        return accumulator[1]


class DenseRank(Rank):
    """DENSE_RANK: the same, but ranks have no gaps."""

    def next(self, accumulator: Any) -> int:
        return int(accumulator[1]) + 1


class Lag:
    """LAG(value, offset, default): the values so far that can still be asked for."""

    can_retract = False

    def create(self) -> Any:
        return [[], 1, None]

    def add(self, accumulator: Any, value: Any, offset: int = 1, default: Any = None) -> Any:
        values: list[Any] = accumulator[0]
        values.append(value)
        del values[: -(offset + 1)]
        accumulator[1:] = offset, default
        return accumulator

    def result(self, accumulator: Any) -> Any:
        values, offset, default = accumulator
        return values[-1 - offset] if len(values) > offset else default


_ORDERED: dict[str, type[Any]] = {"ROW_NUMBER": RowNumber, "RANK": Rank, "DENSE_RANK": DenseRank, "LAG": Lag}


class OverCalls:
    """All aggregates of one operator. The accumulators of a key are a list; DISTINCT adds a count per value to them."""

    def __init__(self, calls: Sequence[AggregateSpec], order: tuple[int, ...]) -> None:
        """Take the calls and the columns of ORDER BY, by which RANK recognizes peers."""
        self._calls: list[tuple[Any, tuple[int, ...], int | None, bool]] = []
        for call in calls:
            ordered = _ORDERED.get(call.name)
            accumulation = call.accumulation if ordered is None else ordered()
            arguments = order if call.name in ("RANK", "DENSE_RANK") else call.arguments
            self._calls.append((accumulation, arguments, call.filter, call.distinct))
        self.can_retract = all(accumulation.can_retract for accumulation, *_ in self._calls)

    def create(self) -> list[Any]:
        """Return the accumulators of no rows."""
        return [[a.create(), {}] if distinct else a.create() for a, _, _, distinct in self._calls]

    def add(self, accumulators: list[Any], row: Row) -> None:
        """Add a row."""
        for i, (accumulation, columns, condition, distinct) in enumerate(self._calls):
            if condition is None or row[condition]:
                arguments = [row[column] for column in columns]
                if not distinct:
                    accumulators[i] = accumulation.add(accumulators[i], *arguments)
                else:
                    inner, seen = accumulators[i]
                    value = tuple(arguments)
                    seen[value] = seen.get(value, 0) + 1
                    if seen[value] == 1:
                        accumulators[i][0] = accumulation.add(inner, *arguments)

    def retract(self, accumulators: list[Any], row: Row) -> None:
        """Remove a row that was added before."""
        for i, (accumulation, columns, condition, distinct) in enumerate(self._calls):
            if condition is None or row[condition]:
                arguments = [row[column] for column in columns]
                if not distinct:
                    accumulators[i] = accumulation.retract(accumulators[i], *arguments)
                else:
                    inner, seen = accumulators[i]
                    value = tuple(arguments)
                    seen[value] -= 1
                    if not seen[value]:
                        del seen[value]
                        accumulators[i][0] = accumulation.retract(inner, *arguments)

    def results(self, accumulators: list[Any]) -> Row:
        """Return the values for the rows so far."""
        return tuple(
            [
                a.result(accumulator[0] if distinct else accumulator)
                for (a, _, _, distinct), accumulator in zip(self._calls, accumulators)
            ]
        )
