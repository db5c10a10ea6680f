"""ORC files; the names are those of `pyflink.datastream.formats.orc`, plus a format to read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any, BinaryIO

from headrace.config.configuration import Configuration
from headrace.connectors.files.source import BulkFormat
from headrace.errors import BadRecordError, InvalidProgramError
from headrace.formats import arrow_rows
from headrace.formats.bulk_writers import ColumnWriter, KeepOpen
from headrace.formats.column_files import BlockFile, ColumnFiles
from headrace.formats.row_columns import RowColumns
from headrace.types.data_types import stream_type
from headrace.types.logical_types import RowType
from headrace.types.serialization import BulkWriter, BulkWriterFactory, RowDataBulkWriterFactory

__all__ = ["OrcBulkWriters", "OrcColumnarRowInputFormat"]

_PROPERTIES = {
    "orc.compress": "compression",
    "orc.stripe.size": "stripe_size",
    "orc.compress.size": "compression_block_size",
    "orc.row.index.stride": "row_index_stride",
}


class OrcBulkWriters:
    """Writes rows to ORC files. Strings of CHAR are padded with blanks to their length, as in Flink.

    >>> from headrace.table import DataTypes
    >>> OrcBulkWriters.for_row_type(DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT())])).get_row_type()
    RowType(RowField(id, BigIntType(true)))
    """

    @staticmethod
    def for_row_type(
        row_type: RowType,
        writer_properties: Configuration | dict[str, str] | None = None,
        hadoop_config: Configuration | None = None,
    ) -> BulkWriterFactory:
        """Return the factory of writers for rows; ``writer_properties`` are those of ORC, such as ``orc.compress``."""
        arrow_rows.no_hadoop(hadoop_config, "ORC")
        settings: dict[str, Any] = {"compression": "zlib"}
        properties = writer_properties.to_dict() if isinstance(writer_properties, Configuration) else writer_properties
        for key, value in (properties or {}).items():
            if key not in _PROPERTIES:
                raise InvalidProgramError("Unknown ORC property", seen=key, expected=", ".join(_PROPERTIES))
            text = str(value).lower()
            settings[_PROPERTIES[key]] = int(text) if text.isdigit() else "uncompressed" if text == "none" else text
        rows = arrow_rows.row_type(row_type, "OrcBulkWriters.for_row_type")
        return RowDataBulkWriterFactory(_Make(rows, settings), rows)


class _Make:
    def __init__(self, rows: RowType, settings: dict[str, Any]) -> None:
        self._rows, self._settings = rows, settings

    def __call__(self, stream: BinaryIO) -> BulkWriter:
        writer = arrow_rows.pyarrow("pyarrow.orc").ORCWriter(KeepOpen(stream), **self._settings)
        # The writer takes the schema from the first table; an empty one makes a file without rows valid, too.
        writer.write(arrow_rows.arrow_schema(self._rows).empty_table())
        return ColumnWriter(self._rows, writer.write, writer.close, pads=True)


class OrcColumnarRowInputFormat(BulkFormat):
    """Reads rows from ORC files, only the columns of the row type.

    >>> from headrace.table import DataTypes
    >>> OrcColumnarRowInputFormat(DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT())])).file_format.produced_type
    RowTypeInfo(id: Long)
    """

    def __init__(self, row_type: RowType, batch_size: int = 2048) -> None:
        super().__init__(_OrcRows(arrow_rows.row_type(row_type, "OrcColumnarRowInputFormat"), batch_size))


class _OrcFile(BlockFile):
    def __init__(self, file: IO[bytes], names: list[str]) -> None:
        self._file = arrow_rows.pyarrow("pyarrow.orc").ORCFile(file)
        self.blocks = self._file.nstripes
        self._names = names
        missing = [name for name in names if name not in self._file.schema.names]
        if missing:
            raise BadRecordError(f"The file has no columns {missing}", seen=f"the columns {self._file.schema.names}")

    def batches(self, block: int, rows: int) -> Iterator[Any]:
        stripe = self._file.read_stripe(block, columns=self._names)
        for start in range(0, stripe.num_rows, rows):
            yield stripe.slice(start, rows)


class _OrcRows(ColumnFiles):
    def __init__(self, rows: RowType, batch_rows: int) -> None:
        self.rows, self.batch_rows = rows, batch_rows
        self.produced_type = stream_type(rows)
        self._columns = RowColumns(rows)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.rows, self.batch_rows)

    def open_file(self, file: IO[bytes]) -> BlockFile:
        return _OrcFile(file, self.rows.field_names())

    def records(self, batch: Any) -> Any:
        return self._columns.of(batch)
