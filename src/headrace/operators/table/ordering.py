"""The order of rows by columns: ascending or descending, nulls first or last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from headrace.graph.table_specs import SortOrder
from headrace.operators.table.keyed import Row

_NUMBERS = (int, float, Decimal)


class Descending:
    """A value that sorts the other way round.

    >>> sorted(["a", "c", "b"], key=Descending)
    ['c', 'b', 'a']
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: Descending) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Descending) and bool(self.value == other.value)

    def __hash__(self) -> int:
        return hash(self.value)


def sort_key(orders: Sequence[SortOrder]) -> Callable[[Row], tuple[Any, ...]]:
    """Return a function from a row to a key by which rows can be sorted and compared.

    >>> key = sort_key([SortOrder(0, descending=True, nulls_first=False), SortOrder(1)])
    >>> sorted([(1, "b"), (None, "a"), (2, "a"), (1, None)], key=key)
    [(2, 'a'), (1, None), (1, 'b'), (None, 'a')]
    """
    columns = [(o.column, o.descending, 0 if o.nulls_first else 2) for o in orders]

    def key(row: Row) -> tuple[Any, ...]:
        parts: list[Any] = []
        for column, descending, null in columns:
            value = row[column]
            if value is None:
                parts += (null, 0)
            elif not descending:
                parts += (1, value)
            elif isinstance(value, _NUMBERS):
                parts += (1, -value)
            else:
                parts += (1, Descending(value))
        return tuple(parts)

    return key


def sort_rows(rows: list[Row], orders: Sequence[SortOrder]) -> list[Row]:
    """Return the rows in order; rows that compare equal keep theirs."""
    return sorted(rows, key=sort_key(orders)) if orders else list(rows)
