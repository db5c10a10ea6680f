"""TableOperator: the base of operators of tables. They take rows or columns, and see batch input in its own order."""

from __future__ import annotations

from typing import Any

from headrace.graph.table_specs import TableKey
from headrace.operators.base import Operator
from headrace.operators.output import Values
from headrace.operators.table.batches import TableColumns
from headrace.state.opaque_key import filed_keys, holds_nan
from headrace.types.column_run import as_columns


class TableOperator(Operator):
    """An operator of a table."""

    grouped_in_batch = False


def rows_of(values: Values) -> list[tuple[Any, ...]]:
    """Return the rows of a run.

    >>> rows_of([(1,)])
    [(1,)]
    """
    run = as_columns(values)
    return values if run is None else run.rows()


def keys_of(rows: list[tuple[Any, ...]], columns: tuple[int, ...]) -> list[Any]:
    """Return the keys of rows in the form in which state is filed.

    >>> keys_of([(1, "a"), (2, "b")], (1,)), keys_of([(1, "a")], (0, 1)), keys_of([(1, "a")], ())
    (['a', 'b'], [(1, 'a')], [()])
    """
    select = TableKey(columns)
    keys = [select(row) for row in rows]
    return filed_keys(keys) if any(type(key) in _MAY_HOLD_NAN and holds_nan(key) for key in keys) else keys


_MAY_HOLD_NAN = frozenset((float, tuple))


def codec_of(row_type: Any, kinds: bool) -> TableColumns | None:
    """Return the codec for the results of an operator; None if the spec does not tell their type."""
    return None if row_type is None else TableColumns(row_type, kinds)
