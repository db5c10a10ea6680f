"""Convert Avro records, which are dicts, to rows of their columns in Parquet, and back.

Decides which member of a union a value belongs to. The columns are those of `avro_columns.row_type_of` with groups.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from typing import Any

from headrace.formats.avro import AvroSchema
from headrace.formats.avro_columns import has_column, parts_of_union, resolved

Convert = Callable[[Any], Any]
_PYTHON: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "enum": (str,),
    "int": (int,),
    "long": (int,),
    "float": (float,),
    "double": (float,),
    "boolean": (bool,),
    "bytes": (bytes, bytearray),
    "fixed": (bytes, bytearray),
    "array": (list, tuple),
    "map": (dict,),
    "date": (datetime.date,),
    "time-millis": (datetime.time,),
    "time-micros": (datetime.time,),
    "timestamp-millis": (datetime.datetime,),
    "timestamp-micros": (datetime.datetime,),
    "local-timestamp-millis": (datetime.datetime,),
    "local-timestamp-micros": (datetime.datetime,),
    "decimal": (decimal.Decimal,),
}
_INT_LIMIT = 1 << 31


def row_maker(schema: AvroSchema) -> Convert:
    """Return the function that converts a record to a row.

    >>> fields = '[{"name": "a", "type": ["int", "double"]}, {"name": "b", "type": "null"}]'
    >>> schema = AvroSchema.parse_string(f'{{"type": "record", "name": "r", "fields": {fields}}}')
    >>> row_maker(schema)({"a": 1.5, "b": None})
    [[None, 1.5]]
    """
    return _to_row(schema.definition, {})


def _to_row(node: Any, named: dict[str, Any]) -> Convert:
    node = resolved(node, named)
    if isinstance(node, list):
        parts = [resolved(part, named) for part in parts_of_union(node)]
        makers = [_to_row(part, named) for part in parts]
        make = makers[0] if len(parts) == 1 else _to_group(parts, makers)
        return make if len(parts) == len(node) else lambda value: None if value is None else make(value)
    if node["type"] == "record":
        return _record_row(
            [(f["name"], _to_row(f["type"], named)) for f in node["fields"] if has_column(f["type"], named)]
        )
    if node["type"] == "array":
        element = _to_row(node["items"], named)
        return lambda array: [element(value) for value in array]
    if node["type"] == "map":
        entry = _to_row(node["values"], named)
        return lambda entries: {key: entry(value) for key, value in entries.items()}
    return _there


def _record_row(fields: list[tuple[str, Convert]]) -> Convert:
    def row(record: Any) -> list[Any]:
        if not isinstance(record, dict):
            raise ValueError(f"{record!r} is not a record")
        return [make(record.get(name)) for name, make in fields]

    return row


def _there(value: Any) -> Any:
    if value is None:
        raise ValueError("the value of a type that is not nullable is missing")
    return value


def _to_group(parts: list[Any], makers: list[Convert]) -> Convert:
    def group(value: Any) -> list[Any]:
        chosen = _member(parts, value)
        return [make(value) if index == chosen else None for index, make in enumerate(makers)]

    return group


def _member(parts: list[Any], value: Any) -> int:
    """Return the first part that has the type of the value; an integer also matches a floating-point type."""
    for fits in (_is, _counts_as):
        for index, part in enumerate(parts):
            if fits(part, value):
                return index
    raise ValueError(f"{value!r} has no type of its union")


def _is(part: Any, value: Any) -> bool:
    kind = part["type"]
    if kind == "record":
        return isinstance(value, dict) and value.keys() <= {field["name"] for field in part["fields"]}
    if kind == "int" and type(value) is int and not -_INT_LIMIT <= value < _INT_LIMIT:
        return False
    return type(value) in _PYTHON.get(part.get("logicalType"), _PYTHON[kind])


def _counts_as(part: Any, value: Any) -> bool:
    return type(value) is int and part["type"] in ("float", "double")


def record_maker(schema: AvroSchema) -> Convert | None:
    """Return the function that converts a dict of pyarrow to a record, or None if they are the same.

    >>> fields = '[{"name": "a", "type": ["int", "double"]}, {"name": "b", "type": "null"}]'
    >>> make = record_maker(AvroSchema.parse_string(f'{{"type": "record", "name": "r", "fields": {fields}}}'))
    >>> make({"a": {"member0": None, "member1": 1.5}})
    {'a': 1.5, 'b': None}
    """
    return _to_record(schema.definition, {})


def _to_record(node: Any, named: dict[str, Any]) -> Convert | None:
    node = resolved(node, named)
    if isinstance(node, list):
        makers = [_to_record(part, named) for part in parts_of_union(node)]
        return makers[0] if len(makers) == 1 else _from_group(makers)
    if node["type"] == "record":
        fields = [(f["name"], _to_record(f["type"], named), has_column(f["type"], named)) for f in node["fields"]]
        if all(make is None and there for _, make, there in fields):
            return None
        return _given(lambda found: {n: _made(make, found[n]) if there else None for n, make, there in fields})
    if node["type"] == "array":
        element = _to_record(node["items"], named)
        return None if element is None else _given(lambda array: [_made(element, value) for value in array])
    if node["type"] == "map":
        entry = _to_record(node["values"], named)
        return None if entry is None else _given(lambda found: {k: _made(entry, v) for k, v in found.items()})
    return None


def _given(make: Convert) -> Convert:
    return lambda value: None if value is None else make(value)


def _made(make: Convert | None, value: Any) -> Any:
    return value if make is None else make(value)


def _from_group(makers: list[Convert | None]) -> Convert:
    def member(group: Any) -> Any:
        for make, value in zip(makers, group.values()):
            if value is not None:
                return _made(make, value)
        return None

    return _given(member)
