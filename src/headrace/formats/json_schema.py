"""Convert a JSON schema to a row type, like Flink."""

from __future__ import annotations

import json
from typing import Any

from headrace.errors import InvalidProgramError
from headrace.types.typeinfo import RowTypeInfo, TypeInformation, Types

_TEXT_FORMATS = {"date": Types.SQL_DATE, "time": Types.SQL_TIME, "date-time": Types.SQL_TIMESTAMP}


def row_type_of(text: str) -> RowTypeInfo:
    """Return the type of the objects that a schema describes.

    >>> row_type_of('{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}')
    RowTypeInfo(a: BigInteger, b: String)
    """
    try:
        root = json.loads(text)
    except ValueError as error:
        raise InvalidProgramError(f"Invalid JSON schema: {error}", seen=text) from None
    found = _type(root, root)
    if not isinstance(found, RowTypeInfo):
        raise InvalidProgramError("A JSON schema for rows must describe an object", seen=text)
    return found


def _type(node: Any, root: Any) -> TypeInformation:
    if not isinstance(node, dict):
        raise _refused(node)
    if "$ref" in node:
        return _type(_referenced(node["$ref"], root), root)
    choices = node.get("oneOf") or (
        [{**node, "type": kind} for kind in node["type"]] if isinstance(node.get("type"), list) else None
    )
    if choices is not None:
        real = [choice for choice in choices if choice.get("type") != "null"]
        if len(real) != 1:
            raise _refused(node)
        return _type(real[0], root)
    kind = node.get("type")
    if kind == "object" and "properties" in node:
        fields = node["properties"]
        return Types.ROW_NAMED(list(fields), [_type(part, root) for part in fields.values()])
    if kind == "array" and isinstance(node.get("items"), dict):
        return Types.OBJECT_ARRAY(_type(node["items"], root))
    if kind == "string":
        if node.get("contentEncoding") == "base64":
            return Types.PRIMITIVE_ARRAY(Types.BYTE())
        return _TEXT_FORMATS.get(str(node.get("format")), Types.STRING)()
    plain = {"number": Types.BIG_DEC, "integer": Types.BIG_INT, "boolean": Types.BOOLEAN}.get(str(kind))
    if plain is None:
        raise _refused(node)
    return plain()


def _referenced(address: str, root: Any) -> Any:
    node = root
    for step in address.removeprefix("#/").split("/"):
        if not isinstance(node, dict) or step not in node:
            raise InvalidProgramError("A reference of the JSON schema cannot be resolved", seen=address)
        node = node[step]
    return node


def _refused(node: object) -> InvalidProgramError:
    return InvalidProgramError("This part of the JSON schema has no row type", seen=json.dumps(node))
