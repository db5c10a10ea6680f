"""What a function is: how types are inferred, and how its implementation is made for a call.

Values inside a table job have an internal form, in rows and in columns alike:

| type | row | column (pyarrow) |
| --- | --- | --- |
| BOOLEAN; integers | bool; int | bool; int8 to int64 |
| FLOAT, DOUBLE; DECIMAL | float; Decimal with the type's scale | float32, float64; decimal128 |
| CHAR, VARCHAR; BINARY, VARBINARY | str; bytes | string; binary |
| DATE; TIME | int: days since 1970; milliseconds of the day | int32; int32 |
| TIMESTAMP, TIMESTAMP_LTZ | int: microseconds since 1970 (of the local time; of UTC) | int64 |
| INTERVAL of months; of days | int: months; milliseconds | int32; int64 |
| ARRAY; ROW | tuple | list; struct |
| MAP, MULTISET | `SqlMap`, a dict that can be hashed | map |

Null is None. A row is a tuple of such values. FLOAT values are rounded to 32 bits, integers wrap around.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headrace.types.logical_types import DataType
from headrace.types.sql_map import SqlMap as SqlMap

NOT_CONSTANT: Any = type(
    "NotConstant", (), {"__repr__": lambda self: "NOT_CONSTANT", "__reduce__": lambda self: "NOT_CONSTANT"}
)()
"""The value of an argument that is not a constant."""


@dataclass
class Running:
    """What functions see of the operator that they run in; a program has one."""

    watermark: int | None = None
    """The current watermark in milliseconds; None before the first one. The operator sets it."""


@dataclass(frozen=True)
class Session:
    """The settings of a query that functions may depend on."""

    time_zone: str = "UTC"
    batch: bool = False
    query_time: int | None = None
    """Microseconds since 1970 at which a batch query started: CURRENT_TIMESTAMP. None: the clock of each row."""
    options: tuple[tuple[str, str], ...] = ()
    """Other settings, such as `table.exec.legacy-cast-behaviour`."""
    database: str = "default_database"
    """The current database."""
    running: Running = field(default_factory=Running, compare=False, repr=False)


@dataclass(frozen=True)
class Argument:
    """An argument of a call: its type, and its value if it is a constant."""

    type: DataType
    value: Any = NOT_CONSTANT
    """In internal form; a symbol such as the DAY of `EXTRACT(DAY FROM ts)` is a `str`."""

    @property
    def constant(self) -> bool:
        """Return whether the value is known when the query is planned."""
        return self.value is not NOT_CONSTANT


class ArgumentError(Exception):
    """The arguments of a call do not fit. The analyser turns it into an error with position and signature."""


@dataclass(frozen=True)
class Signature:
    """The result of type inference: the types that arguments are cast to, and the type of the result."""

    arguments: tuple[DataType, ...]
    result: DataType


@dataclass(frozen=True)
class CallSite:
    """A call whose types are settled; from it a function makes its implementation."""

    arguments: tuple[Argument, ...]
    result: DataType
    session: Session = field(default_factory=Session)
    ignore_nulls: bool = False
    """IGNORE NULLS, for aggregate functions that treat nulls as values otherwise."""
    over: bool = False
    """Whether an aggregate function is called over a window of rows."""


Infer = Callable[[Sequence[Argument]], Signature]
"""Return the signature for arguments, or raise ArgumentError. Includes nullability of the result."""


@dataclass(frozen=True)
class Inline:
    """Source of a call: a Python expression over `{0}`, `{1}` ... and the objects it uses as `{name}`.

    `{t}` is a name for a temporary value. Text order is evaluation order for arguments that occur more than once, and the
    first occurrence of each is always evaluated. Strict functions need not test for None.
    """

    template: str
    objects: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ScalarFunction:
    """A function of the values of one row.

    `rows(site)` returns a callable of the arguments' values. If `strict`, it is not called when an argument is None: the
    result is None then. `columns(site)` returns a callable of pyarrow arrays (or scalars for constants) that returns an
    array, or None if this call can only run row by row; its results equal those of `rows`.
    """

    name: str
    infer: Infer
    rows: Callable[[CallSite], Callable[..., Any]]
    columns: Callable[[CallSite], Callable[..., Any] | None] | None = None
    strict: bool = True
    deterministic: bool = True
    """False: each call may return another value, so that it is never evaluated when the query is planned."""
    inline: Callable[[CallSite], Inline | None] | None = None
    """`inline(site)` returns Python source that computes the same as `rows(site)` faster, or None."""

    def __reduce__(self) -> Any:
        """Pickle a built-in function as its name."""
        return _built_in, (self.name,)


def _built_in(name: str) -> ScalarFunction:
    from headrace.table.functions.registry import scalar_function

    return scalar_function(name)


class Accumulation:
    """The running form of an aggregate function. Accumulators are plain data: they are stored in state.

    `add` and `retract` return the new accumulator, which may be the old one, changed. Arguments that are None are passed
    in: each function decides what nulls mean (most ignore them).
    """

    can_retract: bool = True

    def create(self) -> Any:
        """Return the accumulator of no rows."""
        raise NotImplementedError

    def add(self, accumulator: Any, *arguments: Any) -> Any:
        """Add a row."""
        raise NotImplementedError

    def retract(self, accumulator: Any, *arguments: Any) -> Any:
        """Remove a row that was added before."""
        raise NotImplementedError

    def merge(self, accumulator: Any, other: Any) -> Any:
        """Add the rows of another accumulator, which stays unchanged."""
        raise NotImplementedError

    def result(self, accumulator: Any) -> Any:
        """Return the value for the rows so far."""
        raise NotImplementedError


@dataclass(frozen=True)
class AggregateFunction:
    """A function of a group of rows. `rows(site)` returns its running form.

    `retracting(site)` returns the form for input with retractions, where it differs (MIN and MAX keep all values).
    `columns(site)` returns the `headrace.graph.table_specs.ColumnAggregate` that adds up whole columns at once, or None.

    The inferred result is that of a group with rows. Where a group may be empty (no GROUP BY, or with FILTER), infer it with
    nullable arguments: SUM, MIN and so on become nullable, COUNT does not.
    """

    name: str
    infer: Infer
    rows: Callable[[CallSite], Accumulation]
    retracting: Callable[[CallSite], Accumulation] | None = None
    columns: Callable[[CallSite], Any] | None = None
    over_only: bool = False
    """Whether it needs the order of an OVER window: ROW_NUMBER, RANK, LAG and so on."""

    def __reduce__(self) -> Any:
        """Pickle a built-in function as its name."""
        return _built_in_aggregate, (self.name,)


def _built_in_aggregate(name: str) -> AggregateFunction:
    from headrace.table.functions.registry import aggregate_function

    return aggregate_function(name)


@dataclass(frozen=True)
class TableFunction:
    """A function that returns rows. The result of `infer` is a RowType with the names and types of the columns.

    `rows(site)` returns a callable of the arguments' values that returns an iterable of row tuples.
    """

    name: str
    infer: Infer
    rows: Callable[[CallSite], Callable[..., Any]]
    deterministic: bool = True

    def __reduce__(self) -> Any:
        """Pickle a built-in function as its name."""
        return _built_in_table, (self.name,)


def _built_in_table(name: str) -> TableFunction:
    from headrace.table.functions.registry import table_function

    return table_function(name)
