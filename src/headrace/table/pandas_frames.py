"""Tables from and to pandas DataFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.errors import TypeMismatchError
from headrace.foundation.extras import need
from headrace.types.row import RowKind

if TYPE_CHECKING:
    from headrace.table.table import Table


def _pandas() -> Any:
    return need("pandas", "table", "A table as a DataFrame")


def frame_rows(frame: Any) -> tuple[list[tuple[Any, ...]], list[str]]:
    """Return the rows and the names of the columns of a DataFrame; missing values are None."""
    pandas = _pandas()
    if not isinstance(frame, pandas.DataFrame):
        raise TypeMismatchError("from_pandas takes a pandas DataFrame", seen=type(frame).__name__)
    columns = []
    for name in frame.columns:
        values = frame[name].astype(object).where(frame[name].notna(), None).tolist()
        columns.append([value.to_pydatetime() if isinstance(value, pandas.Timestamp) else value for value in values])
    return list(zip(*columns)), [str(name) for name in frame.columns]


def to_pandas(table: Table) -> Any:
    """Run a query and return its final rows as a DataFrame."""
    rows: list[tuple[Any, ...]] = []
    with table.execute().collect() as changes:
        for row in changes:
            if row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER):
                rows.append(tuple(row))
            else:
                rows.remove(tuple(row))
    return _pandas().DataFrame(rows, columns=table.get_schema().get_field_names())
