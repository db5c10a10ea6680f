"""Nodes that yield rows: queries, and the relations in their FROM clause."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.table.sql.syntax.expressions import Expression, OrderItem, WindowSpecification
from headrace.table.sql.syntax.node import Name, Node
from headrace.table.sql.syntax.types import TypeField


@dataclass(frozen=True, slots=True)
class Query(Node):
    """Anything that yields rows."""


@dataclass(frozen=True, slots=True)
class Relation(Node):
    """Anything that can occur in a FROM clause."""


@dataclass(frozen=True, slots=True)
class Hint(Node):
    """A hint: a name with options as pairs, or with a list of names or literals."""

    name: str
    options: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SelectItem(Node):
    """An expression of the SELECT list."""

    expression: Expression
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class GroupingSet(Expression):
    """`GROUPING SETS (...)`, `ROLLUP (...)` or `CUBE (...)`; an empty `ROW` means `()`."""

    kind: str
    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Select(Query):
    """`SELECT ... FROM ... WHERE ... GROUP BY ... HAVING ... WINDOW ... QUALIFY ...`."""

    items: tuple[SelectItem, ...]
    source: Relation | None = None
    where: Expression | None = None
    group_by: tuple[Expression, ...] | None = None
    having: Expression | None = None
    windows: tuple[tuple[str, WindowSpecification], ...] = ()
    qualify: Expression | None = None
    distinct: bool = False
    group_distinct: bool = False
    hints: tuple[Hint, ...] = ()


@dataclass(frozen=True, slots=True)
class Values(Query):
    """`VALUES (1, 'a'), (2, 'b')`."""

    rows: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ExplicitTable(Query):
    """`TABLE t`: all rows of a table."""

    name: Name


@dataclass(frozen=True, slots=True)
class SetOperation(Query):
    """`left UNION [ALL] right`. `operator`: UNION, INTERSECT or EXCEPT."""

    operator: str
    all: bool
    left: Query
    right: Query


@dataclass(frozen=True, slots=True)
class CommonTable(Node):
    """A named query of a WITH clause."""

    name: str
    columns: tuple[str, ...]
    query: Query


@dataclass(frozen=True, slots=True)
class With(Query):
    """`WITH name AS (...), ... query`."""

    tables: tuple[CommonTable, ...]
    query: Query
    recursive: bool = False


@dataclass(frozen=True, slots=True)
class Ordered(Query):
    """A query with ORDER BY, LIMIT, OFFSET or FETCH."""

    query: Query
    order_by: tuple[OrderItem, ...] = ()
    offset: Expression | None = None
    limit: Expression | None = None


@dataclass(frozen=True, slots=True)
class TableName(Relation):
    """A table or view by its name."""

    names: Name
    hints: tuple[Hint, ...] = ()


@dataclass(frozen=True, slots=True)
class Derived(Relation):
    """A query in parentheses."""

    query: Query
    lateral: bool = False


@dataclass(frozen=True, slots=True)
class Unnest(Relation):
    """`UNNEST(array, ...) [WITH ORDINALITY]`."""

    arguments: tuple[Expression, ...]
    ordinality: bool = False


@dataclass(frozen=True, slots=True)
class TableFunction(Relation):
    """`[LATERAL] TABLE(f(...))`, or `f(...)` alone."""

    call: Expression
    lateral: bool = False


@dataclass(frozen=True, slots=True)
class Join(Relation):
    """Two relations. `kind`: COMMA, CROSS, INNER, LEFT, RIGHT, FULL, CROSS APPLY or OUTER APPLY."""

    left: Relation
    right: Relation
    kind: str
    natural: bool = False
    condition: Expression | None = None
    using: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Aliased(Relation):
    """`relation AS alias (column, ...)`."""

    relation: Relation
    alias: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AsOf(Relation):
    """`relation FOR SYSTEM_TIME AS OF time`."""

    relation: Relation
    time: Expression


@dataclass(frozen=True, slots=True)
class Extended(Relation):
    """`relation EXTEND (column type, ...)`: more columns than the table declares."""

    relation: Relation
    columns: tuple[TypeField, ...]


@dataclass(frozen=True, slots=True)
class Sample(Relation):
    """`relation TABLESAMPLE BERNOULLI(10) REPEATABLE(1)`; `method` SUBSTITUTE has a name instead of a percentage."""

    relation: Relation
    method: str
    argument: Expression
    seed: Expression | None = None


@dataclass(frozen=True, slots=True)
class MatchRecognize(Relation):
    """`relation MATCH_RECOGNIZE (...)`.

    `pattern` nests tuples: `("VARIABLE", name)`, `("SEQUENCE", parts)`, `("ALTERNATIVES", parts)`, `("PERMUTE", parts)`,
    `("EXCLUDE", part)` and `("TIMES", part, low, high, greedy)` with None for "no upper bound".
    """

    relation: Relation
    partition_by: tuple[Expression, ...]
    order_by: tuple[OrderItem, ...]
    measures: tuple[SelectItem, ...]
    rows_per_match: str | None
    after_match: tuple[str, ...] | None
    pattern: tuple[object, ...]
    anchored_start: bool
    anchored_end: bool
    within: Expression | None
    subsets: tuple[tuple[str, tuple[str, ...]], ...]
    definitions: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Pivot(Relation):
    """`relation PIVOT (aggregates FOR axes IN (values))`."""

    relation: Relation
    aggregates: tuple[SelectItem, ...]
    axes: tuple[str, ...]
    values: tuple[SelectItem, ...]


@dataclass(frozen=True, slots=True)
class Unpivot(Relation):
    """`relation UNPIVOT (measures FOR axes IN (columns AS values))`."""

    relation: Relation
    measures: tuple[str, ...]
    axes: tuple[str, ...]
    values: tuple[tuple[tuple[str, ...], Expression | None], ...]
    include_nulls: bool | None = None
