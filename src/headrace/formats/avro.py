"""Avro in messages and files; the names are those of `pyflink.datastream.formats.avro`. Generic records are dicts."""

from __future__ import annotations

import datetime
import io
import json
from functools import partial
from typing import Any, BinaryIO

from headrace.common.io import InputFormat
from headrace.connectors.base.split_reader import Batch, SplitReader
from headrace.connectors.files.file_format import FileFormat, FileRange, unreadable
from headrace.connectors.files.source import StreamFormat
from headrace.errors import BadRecordError, InvalidProgramError, NoJvmError, TypeMismatchError, shortened
from headrace.formats.avro_columns import row_type_of
from headrace.foundation.extras import need
from headrace.foundation.file_systems import open_input
from headrace.types.data_types import stream_type
from headrace.types.logical_types import ArrayType, DataType, MapType, RowType
from headrace.types.row import named_rows
from headrace.types.serialization import BulkWriter, BulkWriterFactory, DeserializationSchema, SerializationSchema
from headrace.types.typeinfo import TypeInformation, Types

__all__ = [
    "AvroBulkWriters",
    "AvroInputFormat",
    "AvroReaderFormat",
    "AvroRowDeserializationSchema",
    "AvroRowSerializationSchema",
    "AvroSchema",
    "GenericRecordAvroTypeInfo",
]


class AvroSchema:
    """An Avro schema.

    >>> print(AvroSchema.parse_string('{"type": "string"}'))
    {"type":"string"}
    """

    def __init__(self, definition: Any) -> None:
        """Programs call `parse_string` or `parse_file`."""
        self.definition = definition
        try:
            self.parsed = fastavro().parse_schema(definition)
        except Exception as error:
            raise InvalidProgramError(f"Invalid Avro schema: {error}", seen=json.dumps(definition)) from None

    def __str__(self) -> str:
        return json.dumps(self.definition, separators=(",", ":"))

    @staticmethod
    def parse_string(json_schema: str) -> AvroSchema:
        """Parse a schema from a string."""
        try:
            return AvroSchema(json.loads(json_schema))
        except ValueError as error:
            raise InvalidProgramError(f"Invalid Avro schema: {error}", seen=json_schema) from None

    @staticmethod
    def parse_file(file_path: str) -> AvroSchema:
        """Parse a schema from a file."""
        with open(file_path, encoding="utf-8") as file:
            return AvroSchema.parse_string(file.read())


def _checked(schema: object) -> AvroSchema:
    if not isinstance(schema, AvroSchema):
        raise TypeMismatchError(
            "An Avro format needs an AvroSchema", seen=schema, expected="AvroSchema.parse_string(...)"
        )
    return schema


class GenericRecordAvroTypeInfo(TypeInformation):
    """The type of dicts that are records of an Avro schema.

    >>> GenericRecordAvroTypeInfo(AvroSchema.parse_string('{"type": "string"}'))
    GenericRecord({"type":"string"})
    """

    def __init__(self, schema: AvroSchema) -> None:
        self.schema = _checked(schema)

    def _parts(self) -> tuple[Any, ...]:
        return (str(self.schema),)

    def __repr__(self) -> str:
        return f"GenericRecord({self.schema})"


class AvroInputFormat(InputFormat):
    """Reads Avro files; for `StreamExecutionEnvironment.create_input`.

    >>> schema = AvroSchema.parse_string('{"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}]}')
    >>> AvroInputFormat("/data", schema).get_produced_type()
    GenericRecord({"type":"record","name":"r","fields":[{"name":"a","type":"int"}]})
    """

    def __init__(self, path: str, schema: AvroSchema) -> None:
        self.path = path
        self.schema = _checked(schema)
        self.file_format = AvroRecords(self.schema.parsed)

    def get_produced_type(self) -> GenericRecordAvroTypeInfo:
        """Return the type of the records."""
        return GenericRecordAvroTypeInfo(self.schema)


class AvroReaderFormat:
    """Reads Avro files through a FileSource; records are dicts.

    >>> schema = AvroSchema.parse_string('{"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}]}')
    >>> isinstance(AvroReaderFormat.for_generic_record(schema), StreamFormat)
    True
    """

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> StreamFormat:
        """Return the format that reads with a schema."""
        return StreamFormat(AvroRecords(_checked(schema).parsed))


class AvroBulkWriters:
    """Writes dicts to Avro files.

    >>> schema = AvroSchema.parse_string('{"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}]}')
    >>> isinstance(AvroBulkWriters.for_generic_record(schema), BulkWriterFactory)
    True
    """

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> BulkWriterFactory:
        """Return the factory of writers for a schema."""
        return BulkWriterFactory(partial(_AvroWriter, parsed=_checked(schema).parsed))


class _AvroWriter(BulkWriter):
    def __init__(self, stream: BinaryIO, parsed: Any) -> None:
        self._writer = fastavro().write.Writer(stream, parsed)

    def add_element(self, element: Any) -> None:
        try:
            self._writer.write(element)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise TypeMismatchError(f"The record does not match its Avro schema: {error!r}", seen=element) from None

    def flush(self) -> None:
        self._writer.flush()

    def finish(self) -> None:
        self._writer.flush()


def _schema_of(record_class: object, avro_schema_string: str | None) -> AvroSchema:
    if record_class is not None:
        raise NoJvmError("headrace has no Java classes of records", seen=record_class, remedy="pass avro_schema_string")
    if avro_schema_string is None:
        raise TypeMismatchError("An Avro format of rows needs a schema", remedy="pass avro_schema_string")
    return AvroSchema.parse_string(avro_schema_string)


class AvroRowDeserializationSchema(DeserializationSchema):
    r"""Reads a row from an Avro record in binary encoding.

    >>> text = (
    ...     '{"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": "string"}]}'
    ... )
    >>> AvroRowDeserializationSchema(avro_schema_string=text).deserialize(b"\x02\x04hi")
    Row(a=1, b='hi')
    """

    def __init__(self, record_class: str | None = None, avro_schema_string: str | None = None) -> None:
        """Set the schema, as a JSON string."""
        super().__init__()
        self._schema = _schema_of(record_class, avro_schema_string)
        self._rows = row_type_of(self._schema)
        self._type = stream_type(self._rows)

    def deserialize(self, message: bytes) -> Any:
        """Return the row of a message."""
        try:
            record = fastavro().schemaless_reader(io.BytesIO(message), self._schema.parsed)
        except Exception as error:
            raise BadRecordError(
                f"The message is not a record of the Avro schema: {type(error).__name__} {error}",
                seen=shortened(message),
                expected=str(self._schema),
            ) from None
        return _row(record)

    def get_produced_type(self) -> TypeInformation:
        """Return the type of the rows."""
        return self._type


class AvroRowSerializationSchema(SerializationSchema):
    r"""Writes a row as an Avro record in binary encoding.

    >>> text = (
    ...     '{"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": "string"}]}'
    ... )
    >>> from headrace.common import Row
    >>> AvroRowSerializationSchema(avro_schema_string=text).serialize(Row(1, "hi"))
    b'\x02\x04hi'
    """

    def __init__(self, record_class: str | None = None, avro_schema_string: str | None = None) -> None:
        """Set the schema, as a JSON string."""
        super().__init__()
        self._schema = _schema_of(record_class, avro_schema_string)
        self._rows = row_type_of(self._schema)

    def serialize(self, element: Any) -> bytes:
        """Return the bytes of a row."""
        out = io.BytesIO()
        try:
            fastavro().schemaless_writer(out, self._schema.parsed, _record(element, self._rows))
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise TypeMismatchError(
                f"Could not serialize a row as Avro: {error!r}", seen=element, expected=str(self._schema)
            ) from None
        return out.getvalue()


def _row(value: Any) -> Any:
    """Convert dicts of records to rows; datetimes lose their time zone, which is UTC."""
    if isinstance(value, dict):
        return named_rows(list(value), [[_row(part) for part in value.values()]])[0]
    if isinstance(value, list):
        return [_row(part) for part in value]
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None)
    return value


def _record(value: Any, data_type: DataType) -> Any:
    if value is None:
        return None
    if isinstance(data_type, RowType):
        if len(value) != len(data_type):
            raise ValueError(f"{len(data_type)} fields expected but was {len(value)}")
        return {f.name: _record(part, f.data_type) for f, part in zip(data_type.fields, value)}
    if isinstance(data_type, ArrayType):
        return [_record(part, data_type.element_type) for part in value]
    if isinstance(data_type, MapType):
        return {key: _record(part, data_type.value_type) for key, part in value.items()}
    if isinstance(value, datetime.datetime) and value.tzinfo is None:
        return value.replace(tzinfo=datetime.timezone.utc)
    return value


def fastavro() -> Any:
    """Return the module `fastavro`."""
    return need("fastavro", "formats", "Avro")


class AvroRecords(FileFormat):
    """Records of Avro files, read with the schema of the program."""

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self.produced_type = Types.PICKLED_BYTE_ARRAY()

    def open(self, part: FileRange, position: Any) -> SplitReader:
        return _AvroReader(part.path, self.schema, position or (0, 0))


class _AvroReader(SplitReader):
    def __init__(self, path: str, schema: Any, position: tuple[int, int]) -> None:
        self._path = path
        self._stream = open_input(path)
        self._blocks = iter(fastavro().block_reader(self._stream, schema))
        self._block, skipped = position
        for _ in range(self._block):
            next(self._blocks, None)
        self._records: list[Any] = []
        self._next = 0
        self._started = False
        self._load()
        self._next = min(skipped, len(self._records))

    def _load(self) -> None:
        """Advance to the next block that has records."""
        while True:
            if self._started:
                self._block += 1
            self._started, self._next = True, 0
            try:
                block = next(self._blocks, None)
                self._records = [] if block is None else list(block)
            except Exception as error:
                raise unreadable(self._path, error, f", in block {self._block}") from error
            self.finished = block is None
            if self._records or self.finished:
                return

    def read(self, limit: int, now: int) -> Batch:
        values = self._records[self._next : self._next + limit]
        self._next += len(values)
        if self._next >= len(self._records):
            self._load()
        return Batch(values, more=not values and not self.finished)

    def position(self) -> tuple[int, int]:
        return self._block, self._next

    def close(self) -> None:
        self._stream.close()
