"""The rows of one side of a join under the current key, with the number of partners that each row has on the other side.

Decides how rows are kept: with a unique key as a map from it, so that a row replaces its former version; otherwise as a
multiset, a map from the row to its count. The number of partners is only kept up to date on sides that need it: those
whose rows appear without a partner in an outer join, and the left side of a semi or anti join.
"""

from __future__ import annotations

from operator import itemgetter

from headrace.graph.table_join_specs import JoinSide
from headrace.graph.table_specs import Condition
from headrace.operators.table.keyed import Row, map_state
from headrace.state.keyed_backend import KeyedBackend

Match = tuple[Row, int]
"""A row and its number of partners."""


class KeptSide:
    """Rows as a multiset: row -> (count, partners)."""

    def __init__(self, backend: KeyedBackend, name: str, side: JoinSide) -> None:
        self._map = map_state(backend, name, side.ttl)

    def add(self, row: Row, partners: int = 0) -> None:
        """Add a row."""
        found = self._map.get(row)
        self._map.put(row, (1 if found is None else found[0] + 1, partners))

    def retract(self, row: Row) -> None:
        """Remove a row; one that is unknown, perhaps because it expired, is ignored."""
        found = self._map.get(row)
        if found is not None:
            count, partners = found
            if count > 1:
                self._map.put(row, (count - 1, partners))
            else:
                self._map.remove(row)

    def set_partners(self, row: Row, partners: int) -> None:
        """Set the number of partners of a row."""
        found = self._map.get(row)
        self._map.put(row, (1 if found is None else found[0], partners))

    def matches(self) -> list[Match]:
        """Return all rows, each as often as it was added."""
        result: list[Match] = []
        for row, (count, partners) in self._map.items():
            if count == 1:
                result.append((row, partners))
            else:
                result += [(row, partners)] * count
        return result


class KeptUniqueSide(KeptSide):
    """Rows by their unique key: key -> (row, partners)."""

    def __init__(self, backend: KeyedBackend, name: str, side: JoinSide) -> None:
        super().__init__(backend, name, side)
        assert side.unique_key is not None
        columns = side.unique_key
        self._key = itemgetter(*columns) if columns else _nothing

    def add(self, row: Row, partners: int = 0) -> None:
        self._map.put(self._key(row), (row, partners))

    def retract(self, row: Row) -> None:
        self._map.remove(self._key(row))

    def set_partners(self, row: Row, partners: int) -> None:
        self._map.put(self._key(row), (row, partners))

    def matches(self) -> list[Match]:
        return list(self._map.values())


def _nothing(row: Row) -> Row:
    return ()


def kept_side(backend: KeyedBackend, name: str, side: JoinSide) -> KeptSide:
    """Return the state of a side in the form that its keys allow."""
    return KeptSide(backend, name, side) if side.unique_key is None else KeptUniqueSide(backend, name, side)


def never_equal(side: JoinSide) -> tuple[int, ...]:
    """Return the key columns in which null equals nothing, not even null.

    >>> never_equal(JoinSide((0, 2), 3)), never_equal(JoinSide((0, 2), 3, null_safe=(True, False)))
    ((0, 2), (2,))
    """
    safe = side.null_safe or (False,) * len(side.keys)
    return tuple(column for column, equal in zip(side.keys, safe) if not equal)


def meeting(condition: Condition | None, row: Row, from_left: bool, matches: list[Match]) -> list[Match]:
    """Return the matches that meet the condition together with `row`."""
    if condition is None or not matches:
        return matches
    pair = condition.pair
    if from_left:
        return [match for match in matches if pair(row, match[0])]
    return [match for match in matches if pair(match[0], row)]
