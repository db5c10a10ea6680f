"""How rows of one type become columns of pyarrow and back: what columnar files, functions on columns and sinks share."""

from __future__ import annotations

from typing import Any

from headrace.errors import TypeMismatchError
from headrace.formats.arrow_rows import arrow_schema, columns_reader, columns_writer, pyarrow
from headrace.types.column_run import ColumnRun
from headrace.types.data_types import RowType

__all__ = ["RowColumns"]


class RowColumns:
    """Rows of a type, as columns; satisfies `headrace.operators.columns.RowColumns`.

    >>> from headrace.table import DataTypes
    >>> columns = RowColumns(DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT())]))
    >>> columns.run([(1,), (2,)]).columns.to_pydict(), list(columns.run([(1,)]))
    ({'a': [1, 2]}, [Row(a=1)])
    """

    def __init__(self, rows: RowType) -> None:
        """Take the type of the rows."""
        self.row_type = rows
        self.schema = arrow_schema(rows)
        self._read, self._write = columns_reader(rows), columns_writer(rows)

    def __reduce__(self) -> tuple[Any, ...]:
        """Only the type travels."""
        return type(self), (self.row_type,)

    def rows(self, columns: Any) -> list[Any]:
        """Make rows of columns."""
        return list(self._read(columns))

    def pack(self, columns: Any) -> bytes:
        """Write columns down; of a part of a larger batch, only that part."""
        return bytes(columns.serialize())

    def unpack(self, data: bytes) -> Any:
        """Read what `pack` wrote."""
        return pyarrow("pyarrow.ipc").read_record_batch(pyarrow().py_buffer(data), self.schema)

    def run(self, rows: list[Any]) -> ColumnRun:
        """Make columns of rows."""
        return ColumnRun(self._write(rows), self)

    def of(self, columns: Any) -> ColumnRun:
        """Take columns over, brought to the types of the rows."""
        return ColumnRun(self._cast(columns), self)

    def fits(self, run: ColumnRun) -> bool:
        """Return whether columns can be written as they are: as many as the rows have, with the same types."""
        return bool(run.columns.schema.types == self.schema.types)

    def mapped(self, result: Any, count: int) -> ColumnRun:
        """Check what a function made of `count` rows."""
        pa = pyarrow()
        if not isinstance(result, pa.RecordBatch) or result.num_rows != count:
            raise TypeMismatchError(
                "A function on columns gives a RecordBatch of pyarrow with as many rows as it was given",
                seen=f"{result.num_rows} rows" if isinstance(result, pa.RecordBatch) else result,
                expected=f"{count} rows",
            )
        missing = [name for name in self.schema.names if name not in result.schema.names]
        if missing:
            raise TypeMismatchError(
                "A function on columns has left out columns of its output type",
                seen=f"the columns {result.schema.names}",
                expected=f"the columns {self.schema.names}",
            )
        return self.of(result)

    def mask(self, result: Any, count: int) -> Any:
        """Check the truth values that a function gave for `count` rows; null counts as false."""
        pa = pyarrow()
        if isinstance(result, pa.ChunkedArray):
            result = result.combine_chunks()
        if not isinstance(result, pa.BooleanArray) or len(result) != count:
            raise TypeMismatchError(
                "A filter on columns gives a truth value for each row, as a BooleanArray of pyarrow",
                seen=result if not isinstance(result, pa.Array) else f"{len(result)} values of {result.type}",
                expected=f"{count} values of bool",
            )
        return result.fill_null(False) if result.null_count else result

    def _cast(self, columns: Any) -> Any:
        schema = columns.schema
        if schema.names == self.schema.names and schema.types == self.schema.types:
            return columns
        pa = pyarrow()
        arrays = []
        for field in self.schema:
            column = columns.column(field.name)
            try:
                arrays.append(column if column.type == field.type else column.cast(field.type))
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                raise TypeMismatchError(
                    f"Values of column {field.name!r} have not its type: {error}", expected=str(field.type)
                ) from None
        return pa.RecordBatch.from_arrays(arrays, names=self.schema.names)
