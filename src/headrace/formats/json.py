"""Rows as JSON objects, and JSON schemas as row types; the names are those of `pyflink.datastream.formats.json`."""

from __future__ import annotations

import decimal
import json
from typing import Any

from headrace.connectors.files.source import StreamFormat
from headrace.connectors.files.text_file import TextLines
from headrace.errors import BadRecordError, InvalidProgramError, TypeMismatchError, shortened
from headrace.formats.json_reading import reader_of
from headrace.formats.json_writing import writer_of
from headrace.types.serialization import DeserializationSchema, SerializationSchema
from headrace.types.typeinfo import RowTypeInfo, TypeInformation, Types

__all__ = ["JsonReaderFormat", "JsonRowDeserializationSchema", "JsonRowSerializationSchema"]


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


def _row_type(given: object) -> RowTypeInfo:
    if not isinstance(given, RowTypeInfo):
        raise TypeMismatchError("JSON objects need a row type", seen=given, expected="Types.ROW_NAMED(names, types)")
    return given


class JsonRowDeserializationSchema(DeserializationSchema):
    """Reads a row from a JSON object.

    >>> from headrace.common import Types
    >>> row_type = Types.ROW_NAMED(["id", "name"], [Types.LONG(), Types.STRING()])
    >>> schema = JsonRowDeserializationSchema.builder().type_info(row_type).build()
    >>> schema.deserialize(b'{"name": "Ada", "id": 1}')
    Row(id=1, name='Ada')
    """

    def __init__(
        self, type_info: RowTypeInfo, fail_on_missing_field: bool = False, ignore_parse_errors: bool = False
    ) -> None:
        """Programs call `builder`."""
        super().__init__()
        self._type_info, self._fail, self._ignore = _row_type(type_info), fail_on_missing_field, ignore_parse_errors
        self._prepare()

    @staticmethod
    def builder() -> JsonRowDeserializationSchema.Builder:
        """Start a schema."""
        return JsonRowDeserializationSchema.Builder()

    def _prepare(self) -> None:
        self._read = reader_of(self._type_info, self._fail, self._ignore)
        # Decimals are read exactly, which is slower.
        parse_float = decimal.Decimal if "BigDecimal" in repr(self._type_info) else None
        self._decoder = json.JSONDecoder(parse_float=parse_float, parse_constant=_no_constant)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_read", "_decoder")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    def deserialize(self, message: bytes) -> Any:
        """Return the row of a message; None for JSON's null and, with `ignore_parse_errors`, for an invalid message."""
        try:
            text = message.decode(json.detect_encoding(message))
            value, _ = self._decoder.raw_decode(text, len(text) - len(text.lstrip(" \t\r\n")))
            if value is not None and type(value) is not dict:
                raise ValueError(f"not an object but {type(value).__name__}")
            return self._read(value)
        except (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
            if self._ignore:
                return None
            raise BadRecordError(
                f"The message is not JSON of the declared type: {error}",
                seen=shortened(message),
                expected=repr(self._type_info),
                remedy="ignore_parse_errors() skips such messages",
            ) from None

    def get_produced_type(self) -> TypeInformation:
        """Return the type of the rows."""
        return self._type_info

    class Builder:
        """Collects the parts of the schema."""

        def __init__(self) -> None:
            """Programs call `JsonRowDeserializationSchema.builder`."""
            self._type_info: RowTypeInfo | None = None
            self._fail = False
            self._ignore = False

        def type_info(self, type_info: RowTypeInfo) -> JsonRowDeserializationSchema.Builder:
            """Set the type of the rows."""
            self._type_info = _row_type(type_info)
            return self

        def json_schema(self, json_schema: str) -> JsonRowDeserializationSchema.Builder:
            """Set the type of the rows with a JSON schema."""
            if json_schema is None:
                raise TypeMismatchError("A JSON schema must be a string", seen="None")
            self._type_info = row_type_of(json_schema)
            return self

        def fail_on_missing_field(self) -> JsonRowDeserializationSchema.Builder:
            """Fail if a field is missing. By default it is None."""
            self._fail = True
            return self

        def ignore_parse_errors(self) -> JsonRowDeserializationSchema.Builder:
            """Skip messages that are not JSON; a field of a wrong type becomes None."""
            self._ignore = True
            return self

        def build(self) -> JsonRowDeserializationSchema:
            """Build the schema."""
            if self._type_info is None:
                raise InvalidProgramError("A JSON schema needs a type", remedy="call type_info() or json_schema()")
            if self._fail and self._ignore:
                raise InvalidProgramError(
                    "A JSON schema cannot both fail on missing fields and ignore parse errors",
                    remedy="call fail_on_missing_field() or ignore_parse_errors(), not both",
                )
            return JsonRowDeserializationSchema(self._type_info, self._fail, self._ignore)


class JsonRowSerializationSchema(SerializationSchema):
    """Writes a row as a JSON object.

    >>> from headrace.common import Row, Types
    >>> row_type = Types.ROW_NAMED(["id", "name"], [Types.LONG(), Types.STRING()])
    >>> JsonRowSerializationSchema.builder().with_type_info(row_type).build().serialize(Row(1, None))
    b'{"id":1,"name":null}'
    """

    def __init__(self, type_info: RowTypeInfo) -> None:
        """Programs call `builder`."""
        super().__init__()
        self._type_info = _row_type(type_info)
        self._write = writer_of(type_info)

    @staticmethod
    def builder() -> JsonRowSerializationSchema.Builder:
        """Start a schema."""
        return JsonRowSerializationSchema.Builder()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._type_info,)

    def serialize(self, element: Any) -> bytes:
        """Return the bytes of a row."""
        try:
            return self._write(element).encode()
        except (TypeError, IndexError, KeyError, AttributeError, ValueError) as error:
            raise TypeMismatchError(
                f"Could not serialize a row as JSON: {error}", seen=element, expected=repr(self._type_info)
            ) from None

    class Builder:
        """Collects the parts of the schema."""

        def __init__(self) -> None:
            """Programs call `JsonRowSerializationSchema.builder`."""
            self._type_info: RowTypeInfo | None = None

        def with_type_info(self, type_info: RowTypeInfo) -> JsonRowSerializationSchema.Builder:
            """Set the type of the rows."""
            self._type_info = _row_type(type_info)
            return self

        def build(self) -> JsonRowSerializationSchema:
            """Build the schema."""
            if self._type_info is None:
                raise TypeMismatchError("A JSON schema needs a type", remedy="call with_type_info()")
            return JsonRowSerializationSchema(self._type_info)


class JsonReaderFormat:
    """Reads rows from files with a JSON object in each line.

    >>> from headrace.common import Types
    >>> row_type = Types.ROW_NAMED(["id"], [Types.LONG()])
    >>> JsonReaderFormat.for_type_info(row_type).file_format.produced_type
    RowTypeInfo(id: Long)
    """

    @staticmethod
    def for_type_info(type_info: RowTypeInfo, ignore_parse_errors: bool = False) -> StreamFormat:
        """Return the format for rows of a type. Invalid lines cause an error or are skipped."""
        schema = JsonRowDeserializationSchema(type_info, ignore_parse_errors=ignore_parse_errors)
        return StreamFormat(TextLines("UTF-8", _Line(schema), type_info))


class _Line:
    def __init__(self, schema: JsonRowDeserializationSchema) -> None:
        self._schema = schema

    def __call__(self, line: str) -> Any:
        return self._schema.deserialize(line.encode("utf-8", "surrogatepass"))


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
