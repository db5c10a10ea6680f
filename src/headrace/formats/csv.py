"""CSV in messages and files; the names are those of `pyflink.datastream.formats.csv`.

The position in a file is the number of rows that were read, which a new reader skips.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO

from headrace.connectors.base.split_reader import Batch, SplitReader
from headrace.connectors.files.file_format import FileFormat, FileRange, unreadable
from headrace.connectors.files.source import StreamFormat
from headrace.errors import TypeMismatchError, reason_of
from headrace.formats.csv_files import CsvFileReader
from headrace.formats.csv_lines import line_writer
from headrace.formats.csv_rows import CsvRowDeserializationSchema, CsvRowSerializationSchema
from headrace.formats.csv_schema import CsvSchema, CsvSchemaBuilder
from headrace.formats.csv_values import column_reader, column_writer
from headrace.types.bad_record import BadRecord
from headrace.types.data_types import stream_type
from headrace.types.row import named_rows
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


def field_readers(schema: CsvSchema) -> list[Callable[[str], Any]]:
    """Return the parsers of the columns."""
    types = zip(schema.row_type.field_types(), schema.separators)
    return [column_reader(each, separator or "\0", schema.null_value) for each, separator in types]


class CsvFiles(FileFormat):
    """Rows of CSV files."""

    can_set_aside = True

    def __init__(self, schema: CsvSchema) -> None:
        self.schema = schema
        self.produced_type = stream_type(schema.row_type)

    def open(self, part: FileRange, position: Any) -> SplitReader:
        return _CsvReader(part.path, self.schema, position or 0, self.sets_aside)


class _CsvReader(CsvFileReader):
    def __init__(self, path: str, schema: CsvSchema, position: int, sets_aside: bool) -> None:
        self._sets_aside = sets_aside
        self._names = schema.row_type.field_names()
        self._readers = field_readers(schema)
        super().__init__(path, schema.dialect, schema.allow_comments)
        if schema.use_header:
            self._check_header(next(self._lines, []), schema.strict_headers)
        self._start(position, 1 if schema.skip_first_data_row else 0)

    def _check_header(self, names: list[str], strict: bool) -> None:
        """Skip the header: columns are matched by position. Only a strict header must have the names of the schema."""
        if strict and names != self._names:
            raise ValueError(f"the header {names} differs from {self._names}, and headers are strict")

    def read(self, limit: int, now: int) -> Batch:
        rows = self._texts(limit)
        values, bad = [], []
        for index, texts in enumerate(rows):
            try:
                values.append(self._values(texts))
            except ValueError as error:
                row = self._next + index + 1
                if not self._sets_aside:
                    raise unreadable(self._path, error, f", row {row} ({texts})") from error
                bad.append(BadRecord({"file": self._path, "row": row}, texts, reason_of(error)))
        self._done(len(rows))
        return Batch(named_rows(self._names, values), more=not values and not self.finished, dead_letters=bad)

    def _values(self, texts: list[str]) -> list[Any]:
        texts = texts or [""]
        if len(texts) > len(self._names):
            raise ValueError(f"Too many entries: {len(self._names)} fields expected but was {len(texts)}")
        if len(texts) < len(self._names):
            raise ValueError(f"Row length mismatch: {len(self._names)} fields expected but was {len(texts)}")
        return [read(text) for read, text in zip(self._readers, texts)]
