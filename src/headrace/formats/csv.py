"""CSV in messages and files; the names are those of `pyflink.datastream.formats.csv`."""

from __future__ import annotations

from functools import partial
from typing import Any, BinaryIO

from headrace.connectors.files.source import StreamFormat
from headrace.errors import TypeMismatchError
from headrace.formats.csv_files import CsvFiles
from headrace.formats.csv_lines import line_writer
from headrace.formats.csv_rows import CsvRowDeserializationSchema, CsvRowSerializationSchema
from headrace.formats.csv_schema import CsvSchema, CsvSchemaBuilder
from headrace.formats.csv_values import column_writer
from headrace.types.data_types import stream_type
from headrace.types.serialization import BulkWriter, BulkWriterFactory, RowDataBulkWriterFactory
from headrace.types.typeinfo import Types

__all__ = [
    "CsvBulkWriters",
    "CsvReaderFormat",
    "CsvRowDeserializationSchema",
    "CsvRowSerializationSchema",
    "CsvSchema",
    "CsvSchemaBuilder",
]


def _checked(schema: object) -> CsvSchema:
    if not isinstance(schema, CsvSchema):
        raise TypeMismatchError("CSV files need a CsvSchema", seen=schema, remedy="CsvSchema.builder()...build()")
    return schema


class CsvReaderFormat(StreamFormat):
    """Reads rows from CSV files.

    >>> schema = CsvSchema.builder().add_number_column("id").add_string_column("name").build()
    >>> CsvReaderFormat.for_schema(schema).file_format.produced_type
    RowTypeInfo(id: Long, name: String)
    """

    @staticmethod
    def for_schema(schema: CsvSchema) -> CsvReaderFormat:
        """Return the format that reads the columns of a schema."""
        return CsvReaderFormat(CsvFiles(_checked(schema)))


class CsvBulkWriters:
    """Writes rows to CSV files.

    >>> schema = CsvSchema.builder().add_number_column("id").build()
    >>> isinstance(CsvBulkWriters.for_schema(schema), BulkWriterFactory)
    True
    """

    @staticmethod
    def for_schema(schema: CsvSchema) -> BulkWriterFactory:
        """Return the factory of writers for a schema."""
        return RowDataBulkWriterFactory(partial(_CsvWriter, schema=_checked(schema)), schema.row_type)


class _CsvWriter(BulkWriter):
    def __init__(self, stream: BinaryIO, schema: CsvSchema) -> None:
        self._stream = stream
        null, types, names = schema.null_value or "", schema.row_type.field_types(), schema.row_type.field_names()
        writers = [column_writer(kind, separator, null) for kind, separator in zip(types, schema.separators)]
        fields = list(zip(map(stream_type, types), writers))
        self._line = line_writer(schema.dialect, fields, null, schema.line_separator)
        if schema.use_header:
            header = line_writer(schema.dialect, [(Types.STRING(), str)] * len(names), null, schema.line_separator)
            self._stream.write(header(names).encode())

    def add_element(self, element: Any) -> None:
        try:
            self._stream.write(self._line(element).encode())
        except (TypeError, ValueError, AttributeError) as error:
            raise TypeMismatchError(f"Could not write a row as CSV: {error}", seen=element) from None

    def flush(self) -> None:
        self._stream.flush()

    def finish(self) -> None:
        self._stream.flush()
