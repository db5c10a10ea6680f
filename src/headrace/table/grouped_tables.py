"""Tables between two steps of a query: grouped, with windows, and with OVER windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.table.analysis.errors import invalid, unsupported
from headrace.table.api import nodes
from headrace.table.plan.relations import Relation
from headrace.table.sql.syntax import expressions as syntax
from headrace.table.table_expressions import Translation, given_node
from headrace.table.table_queries import columns_of, selected
from headrace.table.window import GroupWindow, OverWindow

if TYPE_CHECKING:
    from headrace.table.table import Table

__all__ = ["GroupWindowedTable", "GroupedTable", "OverWindowedTable", "WindowGroupedTable"]


class GroupedTable:
    """A table with keys. `select` makes a row for each of their values."""

    def __init__(self, table: Table, keys: Sequence[Any]) -> None:
        """Programs call `Table.group_by`."""
        self._table, self._keys = table, keys

    def select(self, *fields: Any) -> Table:
        """Return keys and aggregates of each group."""
        return self._table.of(grouped(self._table, self._keys, fields))

    def aggregate(self, func: Any) -> Any:
        """Raise an error: row-based aggregates are not supported."""
        raise _unsupported("aggregate", func)

    def flat_aggregate(self, func: Any) -> Any:
        """Raise an error: table aggregates are not supported."""
        raise _unsupported("flat_aggregate", func)


def _unsupported(method: str, func: Any) -> Exception:
    return unsupported(f"{method}() is not supported yet", -1, "use select() with aggregate functions")


def grouped(
    table: Table, keys: Sequence[Any], fields: Sequence[Any], windows: dict[str, GroupWindow] | None = None
) -> Relation:
    """Return the relation of `select` after `group_by`."""
    names = columns_of(table)
    found: list[syntax.Expression] = []
    computed: dict[str, syntax.Expression] = {}
    translation = Translation(names, windows or {}, tables=table.t_env)
    for given in keys:
        node = given_node(given, "group_by")
        if isinstance(node, syntax.Identifier) and node.names[-1] in translation.windows:
            found.append(translation.group_window(node.names[-1]))
        elif isinstance(node, nodes.Named):
            computed[node.names[0]] = translation.one(node.value)
        else:
            found += translation.all((node,))
    if not computed:
        return selected(table, fields, translation, group_by=tuple(found))
    # A key with a name is a column of a projection in front of the groups.
    from headrace.table.expression import Expression

    added = [Expression(nodes.Named(value, (name,))) for name, value in computed.items()]
    wider = table.add_columns(*added)
    found += [syntax.Identifier((name,)) for name in computed]
    inner = Translation(columns_of(wider), windows or {}, tables=table.t_env)
    return selected(wider, fields, inner, group_by=tuple(found))


class GroupWindowedTable:
    """A table with a window over groups, which `group_by` must use."""

    def __init__(self, table: Table, window: GroupWindow) -> None:
        """Programs call `Table.window`."""
        if not isinstance(window, GroupWindow):
            raise TypeMismatchError(
                "window takes a Tumble, Slide or Session window with a name",
                seen=window,
                expected="e.g. Tumble.over(lit(10).minutes).on(col('ts')).alias('w')",
            )
        if window.name in columns_of(table):
            raise invalid(f"The window cannot have the name of a column: {window.name}")
        self._table, self._window = table, window

    def group_by(self, *fields: Any) -> WindowGroupedTable:
        """Choose the window, by its name, and other keys."""
        given = [given_node(each, "group_by") for each in fields]
        names = [each.names[-1] for each in given if isinstance(each, syntax.Identifier)]
        if self._window.name not in names:
            raise invalid(f"group_by must have the window: add col('{self._window.name}')")
        return WindowGroupedTable(self._table, fields, self._window)


class WindowGroupedTable:
    """A table with keys and a window. `select` makes a row for each of their values."""

    def __init__(self, table: Table, keys: Sequence[Any], window: GroupWindow) -> None:
        """Programs call `GroupWindowedTable.group_by`."""
        self._table, self._keys, self._window = table, keys, window

    def select(self, *fields: Any) -> Table:
        """Return keys, aggregates and properties of the window."""
        windows = {self._window.name: self._window}
        return self._table.of(grouped(self._table, self._keys, fields, windows))

    def aggregate(self, func: Any) -> Any:
        """Raise an error: row-based aggregates are not supported."""
        raise _unsupported("aggregate", func)


class OverWindowedTable:
    """A table with OVER windows, which aggregates use by their names."""

    def __init__(self, table: Table, windows: Sequence[OverWindow]) -> None:
        """Programs call `Table.over_window`."""
        if not windows:
            raise InvalidProgramError("over_window takes at least one window")
        for each in windows:
            if not isinstance(each, OverWindow):
                raise TypeMismatchError(
                    "over_window takes OVER windows with a name",
                    seen=each,
                    expected="e.g. Over.partition_by(col('k')).order_by(col('ts')).alias('w')",
                )
        self._table, self._windows = table, {each.name: each for each in windows}

    def select(self, *fields: Any) -> Table:
        """Return columns, and aggregates over windows: `col('a').sum.over(col('w'))`."""
        columns = columns_of(self._table)
        translation = Translation(columns, over_windows=self._windows, tables=self._table.t_env)
        return self._table.of(selected(self._table, fields, translation))
