"""Parquet files; the names are those of `pyflink.datastream.formats.parquet`."""

from __future__ import annotations

from typing import Any, BinaryIO

from headrace.config.configuration import Configuration
from headrace.connectors.files.source import BulkFormat, StreamFormat
from headrace.errors import TypeMismatchError
from headrace.formats.arrow_rows import arrow_schema, no_hadoop, pyarrow
from headrace.formats.arrow_rows import row_type as checked_row_type
from headrace.formats.avro import AvroSchema
from headrace.formats.avro_columns import row_type_of
from headrace.formats.avro_parquet import row_maker
from headrace.formats.bulk_writers import ColumnWriter, KeepOpen
from headrace.formats.parquet_files import ParquetRecords, ParquetRows
from headrace.types.logical_types import RowType
from headrace.types.serialization import BulkWriter, BulkWriterFactory, RowDataBulkWriterFactory

__all__ = ["AvroParquetReaders", "AvroParquetWriters", "ParquetBulkWriters", "ParquetColumnarRowInputFormat"]


class ParquetColumnarRowInputFormat(BulkFormat):
    """Reads rows from Parquet files, only the columns of the row type.

    >>> from headrace.table import DataTypes
    >>> rows = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT())])
    >>> ParquetColumnarRowInputFormat(rows).file_format.produced_type
    RowTypeInfo(id: Long)
    """

    def __init__(
        self,
        row_type: RowType,
        hadoop_config: Configuration | None = None,
        batch_size: int = 2048,
        is_utc_timestamp: bool = False,
        is_case_sensitive: bool = True,
    ) -> None:
        """Set the type of the rows and the number of rows per batch; timestamps are read as they are stored."""
        no_hadoop(hadoop_config, "Parquet")
        rows = checked_row_type(row_type, "ParquetColumnarRowInputFormat")
        super().__init__(ParquetRows(rows, batch_size, is_case_sensitive))


class AvroParquetReaders:
    """Reads Parquet files as Avro records, which are dicts.

    >>> schema = AvroSchema.parse_string('{"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}]}')
    >>> isinstance(AvroParquetReaders.for_generic_record(schema), StreamFormat)
    True
    """

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> StreamFormat:
        """Return the format that reads the fields of a schema."""
        return StreamFormat(ParquetRecords(schema))


class AvroParquetWriters:
    """Writes Avro records, which are dicts, to Parquet files.

    >>> schema = AvroSchema.parse_string('{"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}]}')
    >>> isinstance(AvroParquetWriters.for_generic_record(schema), BulkWriterFactory)
    True
    """

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> BulkWriterFactory:
        """Return the factory of writers for a schema."""
        return BulkWriterFactory(_Make(row_type_of(schema, groups=True), schema))


class ParquetBulkWriters:
    """Writes rows to Parquet files, compressed with Snappy like Flink's.

    >>> from headrace.table import DataTypes
    >>> ParquetBulkWriters.for_row_type(DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT())])).get_row_type()
    RowType(RowField(id, BigIntType(true)))
    """

    @staticmethod
    def for_row_type(
        row_type: RowType, hadoop_config: Configuration | None = None, utc_timestamp: bool = False
    ) -> BulkWriterFactory:
        """Return the factory of writers for rows; timestamps are written as they are."""
        no_hadoop(hadoop_config, "Parquet")
        rows = checked_row_type(row_type, "ParquetBulkWriters.for_row_type")
        return RowDataBulkWriterFactory(_Make(rows), rows)


class _Make:
    """Creates the writer of one file: of rows, or of the records of a schema."""

    def __init__(self, rows: RowType, schema: AvroSchema | None = None) -> None:
        self._rows, self._schema = rows, schema

    def __call__(self, stream: BinaryIO) -> BulkWriter:
        writer = pyarrow("pyarrow.parquet").ParquetWriter(KeepOpen(stream), arrow_schema(self._rows))
        made = ColumnWriter(self._rows, writer.write_table, writer.close)
        return made if self._schema is None else _RecordWriter(made, self._schema)


class _RecordWriter(BulkWriter):
    def __init__(self, writer: BulkWriter, schema: AvroSchema) -> None:
        self._writer, self._row = writer, row_maker(schema)

    def add_element(self, element: Any) -> None:
        try:
            row = self._row(element)
        except (TypeError, ValueError, AttributeError) as error:
            raise TypeMismatchError(f"The record does not match its Avro schema: {error}", seen=element) from None
        self._writer.add_element(row)

    def flush(self) -> None:
        self._writer.flush()

    def finish(self) -> None:
        self._writer.finish()
