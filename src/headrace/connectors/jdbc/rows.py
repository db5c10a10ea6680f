"""Elements of a stream as the parameters of a statement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.connectors.jdbc.statement import Statement
from headrace.errors import InvalidProgramError
from headrace.types.codecs import codec_for
from headrace.types.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation

__all__ = ["check_fields", "row_maker"]


def check_fields(statement: Statement, kind: TypeInformation) -> None:
    """Raise unless the type is a row with as many fields as the statement has parameters.

    >>> from headrace.common.typeinfo import Types
    >>> check_fields(Statement("INSERT INTO t VALUES (?, ?)"), Types.ROW([Types.INT()]))
    Traceback (most recent call last):
    ...
    headrace.errors.InvalidProgramError: The statement and the row type do not fit [INVALID_PROGRAM]
      seen:     2 parameters in INSERT INTO t VALUES (?, ?), 1 fields in RowTypeInfo(Integer)
      remedy:   write one ? for each field
    """
    if not isinstance(kind, RowTypeInfo | TupleTypeInfo):
        raise InvalidProgramError(
            "A JDBC sink takes rows", seen=kind, expected="a type made by Types.ROW, ROW_NAMED or TUPLE"
        )
    fields = len(kind.get_field_types())
    if fields != statement.parameters:
        raise InvalidProgramError(
            "The statement and the row type do not fit",
            seen=f"{statement.parameters} parameters in {statement.sql}, {fields} fields in {kind}",
            remedy="write one ? for each field",
        )


def row_maker(kind: TypeInformation, adapt: Callable[[Any], Any]) -> Callable[[list[Any]], list[tuple[Any, ...]]]:
    """What makes rows of parameters of elements; it raises on elements that are none of the type."""
    coerce = codec_for(kind).coerce

    def make(values: list[Any]) -> list[tuple[Any, ...]]:
        return [tuple(map(adapt, value)) for value in coerce(values)]

    return make
