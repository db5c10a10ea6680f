"""Nodes that compute a value."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from headrace.table.sql.syntax.node import Name, Node

if TYPE_CHECKING:
    from headrace.table.sql.syntax.queries import Query
    from headrace.table.sql.syntax.types import DataType


@dataclass(frozen=True, slots=True)
class Expression(Node):
    """Anything that computes a value."""


@dataclass(frozen=True, slots=True)
class Literal(Expression):
    """A constant. `kind`: NULL, BOOLEAN, UNKNOWN, INTEGER, DECIMAL, DOUBLE, STRING or BINARY."""

    kind: str
    value: bool | int | Decimal | float | str | bytes | None
    charset: str | None = None


@dataclass(frozen=True, slots=True)
class TemporalLiteral(Expression):
    """`DATE '...'`, `TIME '...'` or `TIMESTAMP '...'`."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class IntervalQualifier(Node):
    """`DAY(3) TO SECOND(6)`: units with their precisions."""

    start: str
    start_precision: int | None = None
    end: str | None = None
    end_precision: int | None = None


@dataclass(frozen=True, slots=True)
class IntervalLiteral(Expression):
    """`INTERVAL '1 2' DAY TO HOUR`."""

    text: str
    qualifier: IntervalQualifier
    negative: bool = False


@dataclass(frozen=True, slots=True)
class IntervalExpression(Expression):
    """`INTERVAL n DAY`, or the difference of two times: `(a - b) DAY`."""

    value: Expression
    qualifier: IntervalQualifier
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Identifier(Expression):
    """A column, with its qualifiers."""

    names: Name


@dataclass(frozen=True, slots=True)
class Star(Expression):
    """`*` or `t.*`."""

    qualifier: Name = ()


@dataclass(frozen=True, slots=True)
class Parameter(Expression):
    """`?`, a placeholder for a value that is set later."""


@dataclass(frozen=True, slots=True)
class Default(Expression):
    """`DEFAULT` as an argument or a value to insert."""


@dataclass(frozen=True, slots=True)
class Symbol(Expression):
    """A keyword among the arguments of a function, such as `DAY` in `EXTRACT(DAY FROM ts)`."""

    name: str


@dataclass(frozen=True, slots=True)
class Unary(Expression):
    """`-x`, `+x` or `NOT x`."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Expression):
    """An operator between two values."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Is(Expression):
    """`x IS [NOT] NULL`, `TRUE`, `FALSE`, `UNKNOWN`, `EMPTY`, `A SET`, `JSON VALUE` ..."""

    operand: Expression
    test: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class IsDistinct(Expression):
    """`x IS [NOT] DISTINCT FROM y`."""

    left: Expression
    right: Expression
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Between(Expression):
    """`x [NOT] BETWEEN [SYMMETRIC] low AND high`."""

    value: Expression
    low: Expression
    high: Expression
    negated: bool = False
    symmetric: bool = False


@dataclass(frozen=True, slots=True)
class In(Expression):
    """`x [NOT] IN (...)`: a query or a list of values."""

    value: Expression
    candidates: Query | tuple[Expression, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Quantified(Expression):
    """`x = ANY (...)`: a comparison with `SOME`, `ANY` or `ALL` of a query or a list."""

    value: Expression
    operator: str
    quantifier: str
    candidates: Query | tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Like(Expression):
    """`x [NOT] LIKE y [ESCAPE z]`. `kind`: LIKE, ILIKE, RLIKE or SIMILAR TO."""

    value: Expression
    pattern: Expression
    escape: Expression | None = None
    negated: bool = False
    kind: str = "LIKE"


@dataclass(frozen=True, slots=True)
class Exists(Expression):
    """`EXISTS (query)`, `UNIQUE (query)` or `CURSOR (query)`, by `kind`."""

    query: Query
    kind: str = "EXISTS"


@dataclass(frozen=True, slots=True)
class Subquery(Expression):
    """A query in parentheses where a value is expected."""

    query: Query


@dataclass(frozen=True, slots=True)
class Case(Expression):
    """`CASE [operand] WHEN ... THEN ... ELSE ... END`. A simple case may compare with several values in one branch."""

    operand: Expression | None
    branches: tuple[tuple[tuple[Expression, ...], Expression], ...]
    otherwise: Expression | None = None


@dataclass(frozen=True, slots=True)
class Cast(Expression):
    """`CAST(x AS type)`; `kind` is CAST, TRY_CAST or SAFE_CAST."""

    value: Expression
    type: DataType | IntervalQualifier
    kind: str = "CAST"
    format: Expression | None = None


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A function call.

    `star` is the `*` of `COUNT(*)`, `quantifier` DISTINCT or ALL; `clauses` has the keywords of functions with special
    syntax, such as `("WRAPPER", "WITH CONDITIONAL ARRAY")` of JSON_QUERY. `bare` calls have no parentheses.
    """

    name: Name
    arguments: tuple[Expression, ...] = ()
    quantifier: str | None = None
    star: bool = False
    order_by: tuple[OrderItem, ...] = ()
    nulls: str | None = None
    within_distinct: tuple[Expression, ...] = ()
    within_group: tuple[OrderItem, ...] = ()
    filter: Expression | None = None
    clauses: tuple[tuple[str, object], ...] = ()
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Over(Expression):
    """A call over a window: its specification or the name of one."""

    call: Expression
    window: WindowSpecification | str


@dataclass(frozen=True, slots=True)
class WindowSpecification(Node):
    """`([name] PARTITION BY ... ORDER BY ... ROWS BETWEEN ... AND ...)`."""

    base: str | None = None
    partition_by: tuple[Expression, ...] = ()
    order_by: tuple[OrderItem, ...] = ()
    frame: Frame | None = None
    allow_partial: bool | None = None


@dataclass(frozen=True, slots=True)
class Frame(Node):
    """The rows of a window, relative to the current row. `unit`: ROWS or RANGE."""

    unit: str
    start: FrameBound
    end: FrameBound | None = None
    exclude: str | None = None


@dataclass(frozen=True, slots=True)
class FrameBound(Node):
    """`kind`: CURRENT ROW, PRECEDING or FOLLOWING; without an offset, unbounded."""

    kind: str
    offset: Expression | None = None


@dataclass(frozen=True, slots=True)
class OrderItem(Node):
    """`x [ASC|DESC] [NULLS FIRST|LAST]`; None if the statement does not place nulls."""

    expression: Expression
    descending: bool = False
    nulls_first: bool | None = None


@dataclass(frozen=True, slots=True)
class NamedArgument(Expression):
    """`name => value`."""

    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class TableArgument(Expression):
    """`TABLE t PARTITION BY ... ORDER BY ...`, `MODEL m` or a query as an argument of a table function."""

    table: Query | Name
    kind: str = "TABLE"
    partition_by: tuple[Expression, ...] = ()
    order_by: tuple[OrderItem, ...] = ()


@dataclass(frozen=True, slots=True)
class Row(Expression):
    """`ROW(a, b)`, or `(a, b)` if not explicit."""

    items: tuple[Expression, ...]
    explicit: bool = True


@dataclass(frozen=True, slots=True)
class CollectionConstructor(Expression):
    """`ARRAY[a, b]`, `MAP[k, v]`, `MULTISET[a]`, or one of these of a query. `kind` is its keyword."""

    kind: str
    items: tuple[Expression, ...] | Query


@dataclass(frozen=True, slots=True)
class ItemAccess(Expression):
    """`x[i]`; `mode` is OFFSET, ORDINAL or a similar keyword, if given."""

    value: Expression
    index: Expression
    mode: str | None = None


@dataclass(frozen=True, slots=True)
class FieldAccess(Expression):
    """`(x).field`."""

    value: Expression
    field: str
