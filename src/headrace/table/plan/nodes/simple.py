"""Nodes without state: sources, calculations, exchanges and what shapes rows one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.table.plan.nodes.base import Node
from headrace.table.plan.relations import TableFunctionCall, Window
from headrace.table.plan.rex import Rex

if TYPE_CHECKING:
    from headrace.table.plan.describe import Text


@dataclass(frozen=True, eq=False)
class Values(Node):
    """Constant rows."""

    rows: tuple[tuple[Any, ...], ...]
    label = "Values"

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return the rows."""
        types = self.row_type.field_types()
        shown = [f"{{ {', '.join(text.literal(v, t) for v, t in zip(row, types))} }}" for row in self.rows]
        return [("tuples", f"[{', '.join(shown)}]")]


@dataclass(frozen=True, eq=False)
class TableScan(Node):
    """A table of a connector. `source` is its `TableSource`, `columns` are those that it reads, if not all."""

    name: tuple[str, ...]
    source: Any
    columns: tuple[int, ...] | None = None
    primary_key: tuple[int, ...] = ()
    """The primary key, as columns of this node."""
    hints: tuple[tuple[str, str], ...] = ()
    label = "TableSourceScan"

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return the table and the columns."""
        path = list(self.name)
        if self.columns is not None:
            path.append(f"project=[{', '.join(self.row_type.field_names())}]")
        return [("table", f"[{', '.join(path)}]"), ("fields", text.names(self.row_type))]


@dataclass(frozen=True, eq=False)
class Calc(Node):
    """Expressions of the rows that meet a condition."""

    expressions: tuple[Rex, ...]
    condition: Rex | None = None
    label = "Calc"

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return the expressions with their names, and the condition."""
        names = self.input.row_type.field_names()
        found = [("select", text.named(self.expressions, self.row_type, names))]
        if self.condition is not None:
            found.append(("where", text.rex(self.condition, names)))
        return found


@dataclass(frozen=True, eq=False)
class Exchange(Node):
    """Rows move to the subtask of their key; all to one without keys."""

    columns: tuple[int, ...]
    label = "Exchange"

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return how rows are distributed."""
        names = self.row_type.field_names()
        by = f"hash[{', '.join(names[column] for column in self.columns)}]" if self.columns else "single"
        return [("distribution", by)]


@dataclass(frozen=True, eq=False)
class Watermarks(Node):
    """Event time begins here."""

    time: int
    watermark: Rex
    label = "WatermarkAssigner"

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return the time attribute and the watermark."""
        names = self.input.row_type.field_names()
        return [("rowtime", names[self.time]), ("watermark", text.rex(self.watermark, names))]


@dataclass(frozen=True, eq=False)
class Expand(Node):
    """Each row once per projection."""

    projections: tuple[tuple[Rex, ...], ...]
    label = "Expand"

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return the projections."""
        names = self.input.row_type.field_names()
        shown = [f"{{{', '.join(text.rex(rex, names) for rex in each)}}}" for each in self.projections]
        return [("projects", ", ".join(shown))]


@dataclass(frozen=True, eq=False)
class Correlate(Node):
    """Each row with the rows of a table function."""

    call: TableFunctionCall
    left_outer: bool
    condition: Rex | None = None
    label = "Correlate"

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return the call and the kind of join."""
        names = self.input.row_type.field_names()
        arguments = ", ".join(text.rex(rex, names) for rex in self.call.arguments)
        found = [
            ("invocation", f"{self.call.function.name}({arguments})"),
            ("select", text.names(self.row_type)),
            ("joinType", "LEFT" if self.left_outer else "INNER"),
        ]
        if self.condition is not None:
            found.append(("condition", text.rex(self.condition, self.row_type.field_names())))
        return found


@dataclass(frozen=True, eq=False)
class WindowTable(Node):
    """The windows of each row as columns."""

    window: Window
    label = "WindowTableFunction"

    @property
    def keys(self) -> tuple[int, ...] | None:
        """Return the keys of sessions."""
        return self.window.partition_by if self.window.kind == "SESSION" else None

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return the window."""
        return [("window", text.window(self.window, self.input.row_type))]


@dataclass(frozen=True, eq=False)
class Union(Node):
    """The rows of all inputs."""

    label = "Union"

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return the columns."""
        return [("all", "true"), ("union", text.names(self.row_type))]


@dataclass(frozen=True, eq=False)
class DropUpdateBefore(Node):
    """Leaves out the old rows of updates."""

    label = "DropUpdateBefore"


@dataclass(frozen=True, eq=False)
class ChangelogNormalize(Node):
    """Upserts become a full changelog."""

    key: tuple[int, ...]
    condition: Rex | None = None
    ttl: int = 0
    label = "ChangelogNormalize"

    @property
    def keys(self) -> tuple[int, ...] | None:
        """Return the primary key."""
        return self.key

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return the key and the condition."""
        found = [("key", text.columns(self.row_type, self.key))]
        if self.condition is not None:
            found.append(("condition", text.rex(self.condition, self.row_type.field_names())))
        return found
