"""Which expressions are the same, so that they are computed once."""

from __future__ import annotations

from typing import Any

from headrace.table.plan.rex import Call, FieldAccess, InputRef, Literal, Rex


class ExpressionKeys:
    """Numbers expressions: those that always have the same value have the same number.

    >>> from headrace.types.logical_types import DoubleType
    >>> keys = ExpressionKeys()
    >>> keys.of(InputRef(DoubleType(), 0)) == keys.of(InputRef(DoubleType(), 0))
    True
    >>> keys.of(Literal(DoubleType(), 0.0)) == keys.of(Literal(DoubleType(), -0.0))
    False
    """

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._known: dict[int, tuple[Rex, int]] = {}

    def of(self, rex: Rex) -> int:
        """Return the number of an expression."""
        known = self._known.get(id(rex))
        if known is not None:
            return known[1]
        match rex:
            case InputRef(index=index):
                parts: Any = ("column", index)
            case Literal(type=data_type, value=value):
                parts = ("literal", repr(data_type), repr(value))
            case Call(type=data_type, function=function, arguments=arguments):
                unique = None if function.deterministic else object()
                parts = (id(function), unique, repr(data_type), *map(self.of, arguments))
            case FieldAccess(value=value, index=index):
                parts = ("field", index, self.of(value))
            case _:
                raise TypeError(f"{type(rex).__name__} cannot be computed from a row")
        number = self._numbers.setdefault(parts, len(self._numbers))
        self._known[id(rex)] = (rex, number)  # the reference keeps the id from being used again
        return number
