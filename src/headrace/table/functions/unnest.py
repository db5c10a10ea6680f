"""UNNEST: the elements of arrays, maps and multisets as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import Any

from headrace.table.functions.definition import Argument, ArgumentError, CallSite, Signature, TableFunction
from headrace.types.logical_types import (
    ArrayType,
    DataType,
    IntType,
    MapType,
    MultisetType,
    RowField,
    RowType,
)

Row = tuple[Any, ...]


def _columns(kind: DataType) -> tuple[RowField, ...]:
    match kind:
        case MapType(key_type=key, value_type=value):
            return (RowField("KEY", key), RowField("VALUE", value))
        case ArrayType(element_type=element) | MultisetType(element_type=element):
            if not isinstance(element, RowType):
                return (RowField("EXPR$0", element),)
            if not element.is_nullable:
                return element.fields
            return tuple(RowField(each.name, each.data_type.nullable()) for each in element.fields)
    raise ArgumentError("expected UNNEST(ARRAY), UNNEST(MAP) or UNNEST(MULTISET)")


def _infer(arguments: Sequence[Argument]) -> Signature:
    if len(arguments) != 1:
        raise ArgumentError("expected one argument")
    kind = arguments[0].type
    return Signature((kind,), RowType(_columns(kind), is_nullable=False))


def _infer_ordinality(arguments: Sequence[Argument]) -> Signature:
    plain = _infer(arguments)
    assert isinstance(plain.result, RowType)
    numbered = (*plain.result.fields, RowField("ORDINALITY", IntType().not_null()))
    return Signature(plain.arguments, RowType(numbered, is_nullable=False))


def _elements(kind: DataType) -> Callable[[Any], Iterable[Row]]:
    if isinstance(kind, MapType):
        return lambda value: value.items()
    assert isinstance(kind, (ArrayType, MultisetType))
    element = kind.element_type
    if isinstance(element, RowType):
        missing = (None,) * len(element)
        wrap: Callable[[Any], Row] = lambda each: missing if each is None else each  # noqa: E731
    else:
        wrap = lambda each: (each,)  # noqa: E731
    if isinstance(kind, MultisetType):
        return lambda value: chain.from_iterable(repeat(wrap(each), count) for each, count in value.items())
    return lambda value: map(wrap, value)


def _rows(site: CallSite) -> Callable[..., Iterable[Row]]:
    elements = _elements(site.arguments[0].type)
    return lambda value: () if value is None else elements(value)


def _numbered_rows(site: CallSite) -> Callable[..., Iterable[Row]]:
    elements = _elements(site.arguments[0].type)

    def rows(value: Any) -> Iterator[Row]:
        if value is not None:
            for number, row in enumerate(elements(value), 1):
                yield (*row, number)

    return rows


FUNCTIONS = (
    TableFunction("UNNEST", _infer, _rows),
    TableFunction("UNNEST WITH ORDINALITY", _infer_ordinality, _numbered_rows),
)
