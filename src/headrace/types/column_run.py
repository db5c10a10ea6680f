"""ColumnRun: a batch of rows as columns, from readers of columnar files to operators and sinks that work on columns.

A `ColumnCodec` knows the format of the columns. They have `num_rows`, `slice` and `filter`, like record batches of
pyarrow.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol


class ColumnCodec(Protocol):
    """Converts columns to rows and to bytes; picklable.

    >>> from headrace.formats.row_columns import RowColumns
    >>> all(hasattr(RowColumns, name) for name in ("rows", "pack", "unpack"))
    True
    """

    def rows(self, columns: Any) -> list[Any]:
        """Convert columns to rows."""
        ...

    def pack(self, columns: Any) -> bytes:
        """Serialize columns."""
        ...

    def unpack(self, data: bytes) -> Any:
        """Deserialize columns."""
        ...


class ColumnRun:
    """Rows as columns. Behaves like the list of its rows, which are created on first access.

    >>> from headrace.formats.row_columns import RowColumns
    >>> from headrace.table import DataTypes
    >>> rows = RowColumns(DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT())]))
    >>> run = rows.run([(1,), (2,), (3,)])
    >>> len(run), run[1], len(run[1:]), list(run[2:])
    (3, Row(a=2), 2, [Row(a=3)])
    """

    __slots__ = ("_rows", "codec", "columns")

    def __init__(self, columns: Any, codec: ColumnCodec) -> None:
        self.columns, self.codec = columns, codec
        self._rows: list[Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the columns, not the rows."""
        return _unpacked, (self.codec, self.codec.pack(self.columns))

    def __len__(self) -> int:
        return int(self.columns.num_rows)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows())

    def __getitem__(self, index: int | slice) -> Any:
        """Return a row, or a slice of the run without copying its columns."""
        if not isinstance(index, slice):
            return self.rows()[index]
        start, stop, step = index.indices(len(self))
        if step != 1:
            return self.rows()[index]
        return ColumnRun(self.columns.slice(start, max(stop - start, 0)), self.codec)

    def rows(self) -> list[Any]:
        """Return the rows, which are created once."""
        if self._rows is None:
            self._rows = self.codec.rows(self.columns)
        return self._rows

    def kept(self, mask: Any) -> ColumnRun:
        """Return the rows where `mask`, a boolean array, is true."""
        return ColumnRun(self.columns.filter(mask), self.codec)


def as_columns(values: Any) -> ColumnRun | None:
    """Return the values if they are columns, else None.

    >>> as_columns([1, 2]) is None
    True
    """
    return values if type(values) is ColumnRun else None


def _unpacked(codec: ColumnCodec, data: bytes) -> ColumnRun:
    return ColumnRun(codec.unpack(data), codec)
