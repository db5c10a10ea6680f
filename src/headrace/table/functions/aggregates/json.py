"""JSON_OBJECTAGG and JSON_ARRAYAGG, each with NULL ON NULL or ABSENT ON NULL."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from headrace.table.functions.aggregates.numbers import one_argument
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

_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class JsonObject(Accumulation):
    """A JSON object: the text of each value by its key. A later value of a key replaces the earlier one."""

    type: t.DataType
    absent: bool
    """Whether entries with a null value are left out."""

    def create(self) -> dict[str, str]:
        return {}

    def add(self, accumulator: dict[str, str], *arguments: Any) -> dict[str, str]:
        key, value = arguments
        if key is None:
            raise ArgumentError("The key of JSON_OBJECTAGG is null")
        if value is not None or not self.absent:
            accumulator[key] = json_text(value, self.type)
        return accumulator

    def retract(self, accumulator: dict[str, str], *arguments: Any) -> dict[str, str]:
        accumulator.pop(arguments[0], None)
        return accumulator

    def merge(self, accumulator: dict[str, str], other: dict[str, str]) -> dict[str, str]:
        accumulator.update(other)
        return accumulator

    def result(self, accumulator: dict[str, str]) -> str:
        return _object(sorted(accumulator.items()))


@dataclass(frozen=True)
class JsonArray(Accumulation):
    """A JSON array: the texts of the values in order. A retraction removes the earliest equal value."""

    type: t.DataType
    absent: bool

    def create(self) -> list[str]:
        return []

    def add(self, accumulator: list[str], *arguments: Any) -> list[str]:
        if arguments[0] is not None or not self.absent:
            accumulator.append(json_text(arguments[0], self.type))
        return accumulator

    def retract(self, accumulator: list[str], *arguments: Any) -> list[str]:
        text = json_text(arguments[0], self.type)
        if text in accumulator:
            accumulator.remove(text)
        return accumulator

    def merge(self, accumulator: list[str], other: list[str]) -> list[str]:
        accumulator.extend(other)
        return accumulator

    def result(self, accumulator: list[str]) -> str:
        return "[" + ",".join(accumulator) + "]"


def json_text(value: Any, kind: t.DataType) -> str:
    """Return a value as JSON.

    >>> json_text((1, None), t.ArrayType(t.IntType())), json_text("a", t.VarCharType())
    ('[1,null]', '"a"')
    >>> from decimal import Decimal
    >>> json_text(Decimal("1.50"), t.DecimalType(5, 2))
    '1.50'
    """
    if value is None:
        return "null"
    match kind:
        case t.DecimalType():
            return format(value, "f")
        case t.ArrayType():
            return "[" + ",".join(json_text(each, kind.element_type) for each in value) + "]"
        case t.MapType():
            return _object((str(key), json_text(each, kind.value_type)) for key, each in value.items())
        case t.RowType():
            return _object((f.name, json_text(each, f.data_type)) for f, each in zip(kind.fields, value))
        case _:
            return json.dumps(_plain(value, kind), ensure_ascii=False)


def _object(entries: Iterable[tuple[str, str]]) -> str:
    return "{" + ",".join(f"{json.dumps(key, ensure_ascii=False)}:{text}" for key, text in entries) + "}"


def _plain(value: Any, kind: t.DataType) -> Any:
    match kind:
        case t.BinaryType() | t.VarBinaryType():
            return base64.b64encode(value).decode()
        case t.DateType():
            return (_EPOCH + timedelta(days=value)).date().isoformat()
        case t.TimestampType():
            return (_EPOCH + timedelta(microseconds=value)).isoformat()
        case t.LocalZonedTimestampType():
            return (_EPOCH + timedelta(microseconds=value)).isoformat() + "Z"
        case _:
            return value


_TEXT = t.VarCharType(is_nullable=False)


def _infer_object(arguments: Sequence[Argument]) -> Signature:
    if len(arguments) != 2 or not isinstance(arguments[0].type, (t.CharType, t.VarCharType)):
        raise ArgumentError("JSON_OBJECTAGG takes a string as the key, and a value")
    return Signature((arguments[0].type, arguments[1].type), _TEXT)


def _infer_array(arguments: Sequence[Argument]) -> Signature:
    return Signature((one_argument("JSON_ARRAYAGG", arguments).type,), _TEXT)


def _function(name: str, infer: Infer, made: Callable[[t.DataType, bool], Accumulation]) -> AggregateFunction:
    def rows(site: CallSite) -> Accumulation:
        return made(site.arguments[-1].type, name.endswith("ABSENT_ON_NULL"))

    return AggregateFunction(name, infer, rows)


FUNCTIONS = (
    _function("JSON_OBJECTAGG_NULL_ON_NULL", _infer_object, JsonObject),
    _function("JSON_OBJECTAGG_ABSENT_ON_NULL", _infer_object, JsonObject),
    _function("JSON_ARRAYAGG_NULL_ON_NULL", _infer_array, JsonArray),
    _function("JSON_ARRAYAGG_ABSENT_ON_NULL", _infer_array, JsonArray),
)
ALIASES = {"JSON_OBJECTAGG": "JSON_OBJECTAGG_NULL_ON_NULL", "JSON_ARRAYAGG": "JSON_ARRAYAGG_ABSENT_ON_NULL"}
