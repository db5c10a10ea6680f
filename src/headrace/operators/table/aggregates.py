"""Aggregates: the aggregate functions of a list over one group, with FILTER and DISTINCT.

The accumulators of a group are a list with one for each call. DISTINCT calls with the same arguments and the same filter
share one map of the values that were seen, with their numbers. `Seen` says where such maps are: in the list of accumulators
behind the others (windows, which are removed as a whole), or in keyed state (groups that live on).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from headrace.errors import InvalidProgramError
from headrace.graph.table_specs import AggregateSpec


class Seen(Protocol):
    """The values of DISTINCT calls of the current group."""

    def added(self, place: int, value: tuple[Any, ...]) -> bool:
        """Add a value to a map. Return whether it is new."""
        ...

    def removed(self, place: int, value: tuple[Any, ...]) -> bool:
        """Remove a value once. Return whether it was the last."""
        ...


class SeenInGroup:
    """Maps that are a part of the list of accumulators.

    >>> seen = SeenInGroup([{}])
    >>> seen.added(0, ("a",)), seen.added(0, ("a",)), seen.removed(0, ("a",)), seen.removed(0, ("a",))
    (True, False, False, True)
    """

    __slots__ = ("_maps",)

    def __init__(self, maps: list[dict[tuple[Any, ...], int]]) -> None:
        self._maps = maps

    def added(self, place: int, value: tuple[Any, ...]) -> bool:
        counts = self._maps[place]
        count = counts.get(value, 0)
        counts[value] = count + 1
        return count == 0

    def removed(self, place: int, value: tuple[Any, ...]) -> bool:
        counts = self._maps[place]
        count = counts.pop(value, 0)
        if count > 1:
            counts[value] = count - 1
        return count == 1


class Aggregates:
    """The calls of a list. `inside`: whether the maps of DISTINCT calls are a part of the accumulators."""

    def __init__(self, calls: Sequence[AggregateSpec], inside: bool = True) -> None:
        for call in calls:
            if call.order_by:
                raise InvalidProgramError("An aggregate function with ORDER BY or WITHIN GROUP is not supported")
        self.calls = tuple(calls)
        self.width = len(calls)
        self._inside = inside
        each = [call.accumulation for call in calls]
        self._creates = [accumulation.create for accumulation in each]
        self._results = [accumulation.result for accumulation in each]
        self._merges = [accumulation.merge for accumulation in each]
        self._adds = [accumulation.add for accumulation in each]
        self._retracts = [accumulation.retract for accumulation in each]
        self._plain = [
            (i, each[i].add, each[i].retract, call.arguments, call.filter)
            for i, call in enumerate(calls)
            if not call.distinct
        ]
        shared: dict[tuple[tuple[int, ...], int | None], list[int]] = {}
        for i, call in enumerate(calls):
            if call.distinct:
                shared.setdefault((call.arguments, call.filter), []).append(i)
        self._distinct = [(place, *key, numbers) for place, (key, numbers) in enumerate(shared.items())]
        self.maps = len(self._distinct)

    def create(self) -> list[Any]:
        """Return the accumulators of no rows."""
        accumulators = [create() for create in self._creates]
        if self._inside:
            accumulators.extend({} for _ in range(self.maps))
        return accumulators

    def add(self, accumulators: list[Any], row: tuple[Any, ...], seen: Seen | None = None) -> None:
        """Add a row."""
        for i, add, _, arguments, condition in self._plain:
            if condition is None or row[condition]:
                accumulators[i] = add(accumulators[i], *[row[column] for column in arguments])
        if self._distinct:
            seen = seen or SeenInGroup(accumulators[self.width :])
            for place, arguments, condition, numbers in self._distinct:
                if condition is None or row[condition]:
                    value = tuple([row[column] for column in arguments])
                    if seen.added(place, value):
                        for i in numbers:
                            accumulators[i] = self._adds[i](accumulators[i], *value)

    def retract(self, accumulators: list[Any], row: tuple[Any, ...], seen: Seen | None = None) -> None:
        """Remove a row."""
        for i, _, retract, arguments, condition in self._plain:
            if condition is None or row[condition]:
                accumulators[i] = retract(accumulators[i], *[row[column] for column in arguments])
        if self._distinct:
            seen = seen or SeenInGroup(accumulators[self.width :])
            for place, arguments, condition, numbers in self._distinct:
                if condition is None or row[condition]:
                    value = tuple([row[column] for column in arguments])
                    if seen.removed(place, value):
                        for i in numbers:
                            accumulators[i] = self._retracts[i](accumulators[i], *value)

    def merge(self, accumulators: list[Any], others: list[Any]) -> None:
        """Add the rows of other accumulators, which stay unchanged; the maps must be inside."""
        for i, *_ in self._plain:
            accumulators[i] = self._merges[i](accumulators[i], others[i])
        for place, _, _, numbers in self._distinct:
            mine, theirs = accumulators[self.width + place], others[self.width + place]
            for value, count in theirs.items():
                if value not in mine:
                    for i in numbers:
                        accumulators[i] = self._adds[i](accumulators[i], *value)
                mine[value] = mine.get(value, 0) + count

    def results(self, accumulators: list[Any]) -> tuple[Any, ...]:
        """Return the values of all calls."""
        return tuple([result(accumulator) for result, accumulator in zip(self._results, accumulators)])
