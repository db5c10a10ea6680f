"""FieldAggregation: sum, min, max, min_by and max_by of a field as a reduce function.

Decides how elements of each shape (tuple, list, Row, mapping, single value) are combined. Created by `KeyedStream`,
called by the reduce operator.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Any

from headrace.errors import TypeMismatchError
from headrace.functions import ReduceFunction
from headrace.types.row import Row

Combine = Callable[[Any, Any], Any]


def _smaller(old: Any, new: Any) -> Any:
    return new if new < old else old


def _larger(old: Any, new: Any) -> Any:
    return new if new > old else old


_COMBINE: dict[str, Combine] = {"SUM": operator.add, "MIN": _smaller, "MAX": _larger}
_IS_BETTER: dict[str, Callable[[Any, Any], bool]] = {"MIN_BY": operator.lt, "MAX_BY": operator.gt}


class FieldAggregation(ReduceFunction):
    """A running aggregation of one field; the other fields stay those of the first element.

    >>> FieldAggregation("SUM", 1).reduce(("a", 1), ("a", 2))
    ('a', 3)
    >>> FieldAggregation("MAX_BY", 1).reduce(("a", 1), ("b", 2))
    ('b', 2)
    >>> FieldAggregation("MIN", 0).reduce(5, 3)
    3
    """

    def __init__(self, kind: str, position: int | str) -> None:
        """Aggregate the field at ``position`` (or of that name) by ``kind``: SUM, MIN, MAX, MIN_BY, MAX_BY."""
        self._kind = kind
        self._position = position
        self._shapes: dict[type, Combine] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the parts that the first elements create again."""
        return {**self.__dict__, "_shapes": {}}

    def reduce(self, value1: Any, value2: Any) -> Any:
        """Combine the current result with the next element."""
        combine = self._shapes.get(type(value2))
        if combine is None:
            combine = self._shapes[type(value2)] = self._for(value2)
        return combine(value1, value2)

    def _for(self, example: Any) -> Combine:
        position = self._position
        has_fields = isinstance(example, (tuple, list, Row, dict))
        if not has_fields and position != 0:
            raise TypeMismatchError(
                f"The {position} field selected on a basic type. A field expression on a basic type can only select "
                "the 0th field (which means selecting the entire basic type).",
                seen=example,
            )
        if self._kind in _IS_BETTER:
            better = _IS_BETTER[self._kind]
            if not has_fields:
                return lambda old, new: new if better(new, old) else old
            return lambda old, new: new if better(new[position], old[position]) else old
        combine = _COMBINE[self._kind]
        if not has_fields:
            return combine
        return _tuple_field(position, combine) if isinstance(example, tuple) else _changed_copy(position, combine)


def _tuple_field(position: int | str, combine: Combine) -> Combine:
    if not isinstance(position, int):
        raise TypeMismatchError(
            "The fields of a tuple have no names", seen=position, remedy="use the position of the field"
        )

    def reduce(old: Any, new: Any) -> Any:
        fields = list(old)
        fields[position] = combine(old[position], new[position])
        return tuple(fields)

    return reduce


def _changed_copy(position: int | str, combine: Combine) -> Combine:
    # A copy, because a chained operator may still use the element that was emitted before.
    def reduce(old: Any, new: Any) -> Any:
        result = copy.copy(old)
        result[position] = combine(old[position], new[position])
        return result

    return reduce
