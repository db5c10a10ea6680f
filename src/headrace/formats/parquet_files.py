"""Read Parquet files with pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from headrace.errors import BadRecordError
from headrace.formats.arrow_rows import pyarrow
from headrace.formats.avro import AvroSchema
from headrace.formats.avro_columns import row_type_of
from headrace.formats.avro_parquet import record_maker
from headrace.formats.column_files import BlockFile, ColumnFiles
from headrace.formats.row_columns import RowColumns
from headrace.types.data_types import stream_type
from headrace.types.logical_types import RowType
from headrace.types.typeinfo import Types


class ParquetFileBlocks(BlockFile):
    """The row groups of a file, with some columns (all if `names` is None)."""

    def __init__(self, file: IO[bytes], names: list[str] | None, case_sensitive: bool) -> None:
        self._file = pyarrow("pyarrow.parquet").ParquetFile(file)
        self.blocks = self._file.num_row_groups
        self._names, self._wanted = names, names
        if names is not None:
            self._names = [_found(name, self._file.schema_arrow.names, case_sensitive) for name in names]

    def batches(self, block: int, rows: int) -> Iterator[Any]:
        for batch in self._file.iter_batches(rows, row_groups=[block], columns=self._names):
            if self._wanted is None:
                yield batch
            else:
                yield pyarrow().RecordBatch.from_arrays([batch.column(n) for n in self._names or ()], self._wanted)


def _found(name: str, names: list[str], case_sensitive: bool) -> str:
    if name in names:
        return name
    for other in names:
        if not case_sensitive and other.lower() == name.lower():
            return other
    raise BadRecordError(
        f"The file has no column {name!r}", seen=f"the columns {names}", expected="the fields of the row type"
    )


class ParquetRows(ColumnFiles):
    """Rows with the columns of a row type."""

    def __init__(self, rows: RowType, batch_rows: int = 2048, case_sensitive: bool = True) -> None:
        self.rows, self.batch_rows, self.case_sensitive = rows, batch_rows, case_sensitive
        self.produced_type = stream_type(rows)
        self._columns = RowColumns(rows)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.rows, self.batch_rows, self.case_sensitive)

    def open_file(self, file: IO[bytes]) -> BlockFile:
        return ParquetFileBlocks(file, self.rows.field_names(), self.case_sensitive)

    def records(self, batch: Any) -> Any:
        return self._columns.of(batch)


class ParquetRecords(ColumnFiles):
    """Dicts with the fields of an Avro record."""

    def __init__(self, schema: AvroSchema) -> None:
        self.schema = schema
        self.names = row_type_of(schema, groups=True).field_names()
        self.produced_type = Types.PICKLED_BYTE_ARRAY()
        self._record = record_maker(schema)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.schema,)

    def open_file(self, file: IO[bytes]) -> BlockFile:
        return ParquetFileBlocks(file, self.names, case_sensitive=True)

    def records(self, batch: Any) -> list[Any]:
        found = batch.to_pylist(maps_as_pydicts="strict")
        return list(found if self._record is None else map(self._record, found))
