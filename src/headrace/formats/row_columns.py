"""RowColumns: convert rows of a type to pyarrow columns and back, for columnar files, functions on columns and sinks."""

from __future__ import annotations

from typing import Any

from headrace.errors import TypeMismatchError
from headrace.formats.arrow_rows import arrow_schema, columns_reader, columns_writer, pyarrow
from headrace.types.column_run import ColumnRun
from headrace.types.logical_types import RowType


class RowColumns:
    """Rows of a type, as columns; satisfies `headrace.operators.elementwise.RowColumns`.

    >>> from headrace.table import DataTypes
    >>> columns = RowColumns(DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT())]))
    >>> columns.run([(1,), (2,)]).columns.to_pydict(), list(columns.run([(1,)]))
    ({'a': [1, 2]}, [Row(a=1)])
    """

    def __init__(self, rows: RowType) -> None:
        self.row_type = rows
        self.schema = arrow_schema(rows)
        self._read, self._write = columns_reader(rows), columns_writer(rows)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the type."""
        return type(self), (self.row_type,)

    def rows(self, columns: Any) -> list[Any]:
        """Convert columns to rows."""
        return list(self._read(columns))

    def pack(self, columns: Any) -> bytes:
        """Serialize columns; of a slice of a larger batch, only the slice."""
        return bytes(columns.serialize())

    def unpack(self, data: bytes) -> Any:
        """Deserialize columns."""
        return pyarrow("pyarrow.ipc").read_record_batch(pyarrow().py_buffer(data), self.schema)

    def run(self, rows: list[Any]) -> ColumnRun:
        """Convert rows to columns."""
        return ColumnRun(self._write(rows), self)

    def of(self, columns: Any) -> ColumnRun:
        """Wrap columns, cast to the types of the rows."""
        return ColumnRun(self._cast(columns), self)

    def fits(self, run: ColumnRun) -> bool:
        """Return whether columns can be written unchanged: same number, same types."""
        return bool(run.columns.schema.types == self.schema.types)

    def mapped(self, result: Any, count: int) -> ColumnRun:
        """Check the result of a function for `count` rows."""
        pa = pyarrow()
        if not isinstance(result, pa.RecordBatch) or result.num_rows != count:
            raise TypeMismatchError(
                "A function on columns must return a pyarrow RecordBatch with as many rows as it received",
                seen=f"{result.num_rows} rows" if isinstance(result, pa.RecordBatch) else result,
                expected=f"{count} rows",
            )
        missing = [name for name in self.schema.names if name not in result.schema.names]
        if missing:
            raise TypeMismatchError(
                "The result of a function on columns lacks columns of its output type",
                seen=f"the columns {result.schema.names}",
                expected=f"the columns {self.schema.names}",
            )
        return self.of(result)

    def mask(self, result: Any, count: int) -> Any:
        """Check the boolean array that a function returned for `count` rows; null counts as false."""
        pa = pyarrow()
        if isinstance(result, pa.ChunkedArray):
            result = result.combine_chunks()
        if not isinstance(result, pa.BooleanArray) or len(result) != count:
            raise TypeMismatchError(
                "A filter on columns must return a pyarrow BooleanArray with a value for each row",
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
                    f"Values of column {field.name!r} do not have its type: {error}", expected=str(field.type)
                ) from None
        return pa.RecordBatch.from_arrays(arrays, names=self.schema.names)
