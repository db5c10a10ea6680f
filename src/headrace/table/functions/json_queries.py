"""IS JSON, JSON_EXISTS, JSON_VALUE and JSON_QUERY, with all their clauses.

The clauses are arguments: JSON_EXISTS(json, path, on_error); JSON_VALUE(json, path, returning, on_empty, default, on_error,
default); JSON_QUERY(json, path, returning, wrapper, on_empty, on_error). `returning` is a NULL of the result's type, the
others are keywords: NULL, ERROR, DEFAULT, TRUE, FALSE, UNKNOWN, WITHOUT, CONDITIONAL, UNCONDITIONAL, EMPTY ARRAY, EMPTY OBJECT.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from headrace.table.errors import SqlRuntimeError
from headrace.table.functions import json_text
from headrace.table.functions.column_forms import by_distinct
from headrace.table.functions.definition import Argument, CallSite, ScalarFunction
from headrace.table.functions.json_filter import PathError, PathMissing
from headrace.table.functions.json_path import parse_path
from headrace.table.functions.making import plain
from headrace.table.functions.signatures import (
    ANY,
    STRING,
    STRING_TYPES,
    always,
    nullable,
    signature,
    symbol,
)
from headrace.types.logical_types import ArrayType, BooleanType, DataType, DoubleType, IntType, VarCharType

_MODE = re.compile(r"\s*(strict|lax)\s+(.+)", re.IGNORECASE | re.DOTALL)
_INT_LIMIT = 2**31


class _Failure(Exception):
    """A document or a path gives no value; what happens then is up to the ON ERROR clause."""


def _read(text: str, path_text: str) -> tuple[bool, Any]:
    """Return whether the path is lax, and the value (None if there is none); raise _Failure."""
    mode = _MODE.fullmatch(path_text)
    lax = mode is not None and mode[1].lower() == "lax"
    try:
        document = json_text.cached(text)
    except json_text.JsonError as error:
        if lax:
            return True, None
        raise _Failure(str(error)) from None
    if document is None and not lax:
        raise _Failure("the document is null")
    try:
        path = parse_path(mode[2] if mode is not None else path_text)
    except PathError as error:
        raise _Failure(f"Illegal JSON path {path_text!r}: {error}") from None
    try:
        value = path.find(document)
    except PathMissing as error:
        if lax:
            return True, None
        raise _Failure(str(error)) from None
    if value is None and not lax:
        raise _Failure("Strict mode of a JSON path requires a value, but there is none")
    return lax, value


def _exists(text: str, path: str, on_error: str = "FALSE") -> bool | None:
    try:
        return _read(text, path)[1] is not None
    except _Failure as error:
        if on_error == "ERROR":
            raise SqlRuntimeError(f"JSON_EXISTS failed: {error}") from None
        return {"TRUE": True, "FALSE": False, "UNKNOWN": None}[on_error]


def _value_rows(site: CallSite) -> Callable[..., Any]:
    convert = _converter(site.result)

    def compute(
        text: str | None,
        path: str | None,
        returning: Any = None,
        on_empty: str = "NULL",
        empty_default: Any = None,
        on_error: str = "NULL",
        error_default: Any = None,
    ) -> Any:
        if text is None or path is None:
            return None
        try:
            lax, value = _read(text, path)
            scalar = not isinstance(value, (dict, list))
            if value is not None and scalar:
                return convert(value)
            if value is not None and not lax:
                raise _Failure(f"Strict mode of a JSON path requires a scalar, got {json_text.write(value)}")
        except _Failure as error:
            if on_error == "ERROR":
                raise SqlRuntimeError(f"JSON_VALUE failed: {error}") from None
            return error_default if on_error == "DEFAULT" else None
        if on_empty == "ERROR":
            raise SqlRuntimeError("JSON_VALUE found no value", remedy="use NULL ON EMPTY or DEFAULT ... ON EMPTY")
        return empty_default if on_empty == "DEFAULT" else None

    return compute


def _converter(data_type: DataType) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        if isinstance(data_type, STRING_TYPES):
            return value if isinstance(value, str) else json_text.write(value)
        if isinstance(data_type, BooleanType) and isinstance(value, bool):
            return value
        if isinstance(data_type, IntType) and type(value) is int and -_INT_LIMIT <= value < _INT_LIMIT:
            return value
        if isinstance(data_type, DoubleType) and isinstance(value, Decimal):
            return float(value)
        raise SqlRuntimeError(f"JSON_VALUE found {value!r}, which is no value of the type after RETURNING")

    return convert


def _query_rows(site: CallSite) -> Callable[..., Any]:
    as_array = isinstance(site.result, ArrayType)

    def compute(
        text: str | None,
        path: str | None,
        returning: Any = None,
        wrapper: str = "WITHOUT",
        on_empty: str = "NULL",
        on_error: str = "NULL",
    ) -> Any:
        if text is None or path is None:
            return None
        try:
            lax, value = _read(text, path)
            if value is not None and (
                wrapper == "UNCONDITIONAL" or (wrapper == "CONDITIONAL" and not isinstance(value, list))
            ):
                value = [value]
            scalar = not isinstance(value, (dict, list))
            if value is None or (lax and scalar):
                return _instead(on_empty, "JSON_QUERY found no value", as_array)
            if scalar:
                raise _Failure(f"Strict mode of a JSON path requires an array or object, got {json_text.write(value)}")
            if not as_array:
                return json_text.write(value)
            if isinstance(value, dict):
                raise _Failure("an object is not an array")
            return tuple(_element(each) for each in value)
        except _Failure as error:
            return _instead(on_error, f"JSON_QUERY failed: {error}", as_array)

    return compute


def _element(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json_text.write(value)


def _instead(behaviour: str, problem: str, as_array: bool) -> Any:
    match behaviour:
        case "ERROR":
            raise SqlRuntimeError(problem)
        case "EMPTY ARRAY":
            return () if as_array else "[]"
        case "EMPTY OBJECT":
            if as_array:
                raise SqlRuntimeError("EMPTY OBJECT is not possible where JSON_QUERY returns an array")
            return "{}"
    return None


def _is_json(kinds: tuple[type, ...] | None) -> Callable[[str | None], bool]:
    def test(text: str | None) -> bool:
        if text is None:
            return False
        try:
            value = json_text.cached(text)
        except json_text.JsonError:
            return False
        if kinds == ():
            return not isinstance(value, (dict, list))
        return kinds is None or isinstance(value, kinds)

    return test


def _VALUE_TYPE(argument: Argument) -> DataType | None:
    """Fit the types that JSON_VALUE can return."""
    return argument.type if isinstance(argument.type, (VarCharType, BooleanType, IntType, DoubleType)) else None


def _QUERY_TYPE(argument: Argument) -> DataType | None:
    """Fit the types that JSON_QUERY can return: strings and arrays of strings."""
    found = argument.type
    inner = found.element_type if isinstance(found, ArrayType) else found
    return found if isinstance(inner, STRING_TYPES) else None


_BEHAVIOUR = symbol("NULL", "ERROR", "DEFAULT")
_INSTEAD = symbol("NULL", "ERROR", "EMPTY ARRAY", "EMPTY OBJECT")
_IS = signature(STRING, result=always(BooleanType(is_nullable=False)))


def _is(name: str, kinds: tuple[type, ...] | None) -> ScalarFunction:
    test = _is_json(kinds)
    return plain(f"IS JSON {name}", _IS, test, strict=False)


FUNCTIONS: tuple[ScalarFunction, ...] = (
    _is("VALUE", None),
    _is("OBJECT", (dict,)),
    _is("ARRAY", (list,)),
    _is("SCALAR", ()),
    plain(
        "JSON_EXISTS",
        signature(
            STRING,
            STRING,
            symbol("TRUE", "FALSE", "UNKNOWN", "ERROR"),
            result=always(BooleanType()),
            optional=1,
        ),
        _exists,
        by_distinct(lambda site: _exists),
    ),
    ScalarFunction(
        "JSON_VALUE",
        signature(
            STRING, STRING, _VALUE_TYPE, _BEHAVIOUR, ANY, _BEHAVIOUR, ANY, result=nullable(lambda types: types[2])
        ),
        _value_rows,
        strict=False,
    ),
    ScalarFunction(
        "JSON_QUERY",
        signature(
            STRING,
            STRING,
            _QUERY_TYPE,
            symbol("WITHOUT", "CONDITIONAL", "UNCONDITIONAL"),
            _INSTEAD,
            _INSTEAD,
            result=nullable(lambda types: types[2]),
        ),
        _query_rows,
        strict=False,
    ),
)
ALIASES = {"IS JSON": "IS JSON VALUE"}
