"""Functions that make expressions: columns, constants, conditions, times, JSON, choices of columns."""

from __future__ import annotations

from typing import Any

from headrace.errors import TypeMismatchError
from headrace.table.analysis.inline import InlineExpression, InlineRows
from headrace.table.api.literals import constant
from headrace.table.api.nodes import Bound, ColumnChoice, ColumnRange, UserCall
from headrace.table.api.operand import data_type_of, node_of
from headrace.table.api.units import JsonOnNull, TimePointUnit
from headrace.table.expression import Expression
from headrace.table.plan.rex import Literal
from headrace.table.sql.syntax import expressions as syntax
from headrace.types.logical_types import DataType

__all__ = [
    "CURRENT_RANGE", "CURRENT_ROW", "UNBOUNDED_RANGE", "UNBOUNDED_ROW", "and_", "array", "atan2", "call", "call_sql",
    "coalesce", "col", "concat", "concat_ws", "convert_tz", "current_database", "current_date", "current_time",
    "current_timestamp", "current_watermark", "date_format", "descriptor", "e", "from_unixtime", "if_then_else", "json",
    "json_array", "json_array_agg", "json_object", "json_object_agg", "json_string", "lag", "lead", "lit", "local_time",
    "local_timestamp", "log", "map_", "map_from_arrays", "negative", "not_", "null_of", "object_of", "or_", "pi", "rand",
    "rand_integer", "range_", "row", "row_interval", "source_watermark", "temporal_overlaps", "timestamp_diff", "to_date",
    "to_timestamp", "to_timestamp_ltz", "unix_timestamp", "uuid", "with_all_columns", "with_columns", "without_columns",
]  # fmt: skip

UNBOUNDED_ROW = Expression(Bound(True, "ROWS"))
"""The start of an OVER window at the first row."""
UNBOUNDED_RANGE = Expression(Bound(True, "RANGE"))
"""The start of an OVER window at the first moment."""
CURRENT_ROW = Expression(Bound(False, "ROWS"))
"""The end of an OVER window at the current row."""
CURRENT_RANGE = Expression(Bound(False, "RANGE"))
"""The end of an OVER window at the current moment, with all rows that have it."""


def _made(name: str, *arguments: Any, **clauses: Any) -> Expression:
    return Expression(syntax.Call((name,), tuple(map(node_of, arguments)), **clauses))


def _given(name: str, *arguments: Any) -> Expression:
    return _made(name, *(each for each in arguments if each is not None))


# -- values -----------------------------------------------------------------------------------------------------------


def col(name: str) -> Expression:
    """Return a column by its name.

    >>> col("a") > 1
    a > 1
    """
    if not isinstance(name, str):
        raise TypeMismatchError("col takes the name of a column", seen=name)
    return Expression(syntax.Identifier((name,)))


def lit(v: Any, data_type: DataType | None = None) -> Expression:
    """Return a constant, of the type that fits the value or of a given type."""
    if isinstance(v, Expression):
        return v
    return Expression(constant(v, None if data_type is None else data_type_of(data_type)))


def null_of(data_type: DataType) -> Expression:
    """Return a null of a type."""
    return Expression(InlineExpression(Literal(data_type_of(data_type).nullable(), None)))


def row(head: Any, *tail: Any) -> Expression:
    """Return a row of values."""
    return Expression(syntax.Row(tuple(map(node_of, (head, *tail)))))


def array(head: Any, *tail: Any) -> Expression:
    """Return an array of values."""
    return Expression(syntax.CollectionConstructor("ARRAY", tuple(map(node_of, (head, *tail)))))


def map_(key: Any, value: Any, *tail: Any) -> Expression:
    """Return a map of keys and values, which take turns."""
    return Expression(syntax.CollectionConstructor("MAP", tuple(map(node_of, (key, value, *tail)))))


def map_from_arrays(key: Any, value: Any) -> Expression:
    """Return a map of an array of keys and an array of values."""
    return _made("MAP_FROM_ARRAYS", key, value)


def object_of(class_name: str | type, *args: Any) -> Expression:
    """Return a structured object of a class, with names and values of its fields, which take turns."""
    return _made("OBJECT_OF", class_name if isinstance(class_name, str) else class_name.__name__, *args)


# -- columns ----------------------------------------------------------------------------------------------------------


def range_(start: str | int, end: str | int) -> Expression:
    """Return the columns from one to another, by name or by number, which starts with 1."""
    return Expression(ColumnRange(start, end))


def _columns(given: tuple[Any, ...]) -> tuple[syntax.Expression, ...]:
    found: list[syntax.Expression] = []
    for each in given:
        if isinstance(each, str):
            found.append(syntax.Identifier((each,)))
        elif isinstance(each, int) and not isinstance(each, bool):
            found.append(ColumnRange(each, each))
        else:
            found.append(node_of(each))
    return tuple(found)


def with_columns(head: Any, *tails: Any) -> Expression:
    """Return some columns, by name, number or range."""
    return Expression(ColumnChoice(_columns((head, *tails))))


def without_columns(head: Any, *tails: Any) -> Expression:
    """Return all columns but some, by name, number or range."""
    return Expression(ColumnChoice(_columns((head, *tails)), excluded=True))


def with_all_columns() -> Expression:
    """Return all columns."""
    return Expression(ColumnChoice((), excluded=True))


def descriptor(*column_names: str) -> Expression:
    """Return names of columns as an argument of a table function."""
    return _made("DESCRIPTOR", *(col(each) for each in column_names))


# -- conditions -------------------------------------------------------------------------------------------------------


def and_(predicate0: Any, predicate1: Any, *predicates: Any) -> Expression:
    """Return whether all conditions hold."""
    return _chain("AND", (predicate0, predicate1, *predicates))


def or_(predicate0: Any, predicate1: Any, *predicates: Any) -> Expression:
    """Return whether one of some conditions holds."""
    return _chain("OR", (predicate0, predicate1, *predicates))


def _chain(operator: str, conditions: tuple[Any, ...]) -> Expression:
    found = node_of(conditions[0])
    for each in conditions[1:]:
        found = syntax.Binary(operator, found, node_of(each))
    return Expression(found)


def not_(expression: Any) -> Expression:
    """Return whether a condition does not hold."""
    return Expression(syntax.Unary("NOT", node_of(expression)))


def if_then_else(condition: Any, if_true: Any, if_false: Any) -> Expression:
    """Return one of two values, by a condition."""
    return lit(condition).then(if_true, if_false)


def coalesce(*args: Any) -> Expression:
    """Return the first value that is not null."""
    return _made("COALESCE", *args)


# -- numbers ----------------------------------------------------------------------------------------------------------


def negative(v: Any) -> Expression:
    """Return a number with the other sign."""
    return -lit(v)


def atan2(y: Any, x: Any) -> Expression:
    """Return the angle of a point."""
    return _made("ATAN2", y, x)


def e() -> Expression:
    """Return Euler's number."""
    return _made("E")


def pi() -> Expression:
    """Return the number pi."""
    return _made("PI")


def log(v: Any, base: Any = None) -> Expression:
    """Return the natural logarithm, or the one to a base."""
    return lit(v).log(base)


def rand(seed: Any = None) -> Expression:
    """Return a random number from 0 to 1."""
    return _given("RAND", seed)


def rand_integer(bound: Any, seed: Any = None) -> Expression:
    """Return a random integer from 0 to a bound, which is not included."""
    return _made("RAND_INTEGER", bound) if seed is None else _made("RAND_INTEGER", seed, bound)


def uuid() -> Expression:
    """Return a random UUID."""
    return _made("UUID")


# -- texts ------------------------------------------------------------------------------------------------------------


def concat(first: Any, *others: Any) -> Expression:
    """Return texts as one; null if one of them is."""
    return _made("CONCAT", first, *others)


def concat_ws(separator: Any, first: Any, *others: Any) -> Expression:
    """Return texts that are not null as one, with a separator between them."""
    return _made("CONCAT_WS", separator, first, *others)


# -- times ------------------------------------------------------------------------------------------------------------


def _now(name: str) -> Expression:
    return _made(name, bare=True)


def current_date() -> Expression:
    """Return today's date in the session's time zone."""
    return _now("CURRENT_DATE")


def current_time() -> Expression:
    """Return the time of day in the session's time zone."""
    return _now("CURRENT_TIME")


def current_timestamp() -> Expression:
    """Return the moment, as TIMESTAMP_LTZ."""
    return _now("CURRENT_TIMESTAMP")


def local_time() -> Expression:
    """Return the time of day in the session's time zone."""
    return _now("LOCALTIME")


def local_timestamp() -> Expression:
    """Return date and time in the session's time zone."""
    return _now("LOCALTIMESTAMP")


def current_watermark(rowtimeAttribute: Any) -> Expression:
    """Return the watermark of a rowtime column at the current row."""
    return _made("CURRENT_WATERMARK", rowtimeAttribute)


def source_watermark() -> Expression:
    """Return the watermark of the source, for a schema."""
    return _made("SOURCE_WATERMARK")


def current_database() -> Expression:
    """Return the name of the current database."""
    return _made("CURRENT_DATABASE")


def to_date(date_str: Any, format: Any = None) -> Expression:
    """Return the date in a text."""
    return _given("TO_DATE", date_str, format)


def to_timestamp(timestamp_str: Any, format: Any = None) -> Expression:
    """Return the timestamp in a text."""
    return _given("TO_TIMESTAMP", timestamp_str, format)


def to_timestamp_ltz(*args: Any) -> Expression:
    """Return a moment: of a number and its precision, or of a text with its format and time zone."""
    return _made("TO_TIMESTAMP_LTZ", *args)


def date_format(timestamp: Any, format: Any) -> Expression:
    """Return a timestamp as a text, in a format such as `yyyy-MM-dd`."""
    return _made("DATE_FORMAT", timestamp, format)


def timestamp_diff(time_point_unit: TimePointUnit, time_point1: Any, time_point2: Any) -> Expression:
    """Return how many whole units are between two moments."""
    unit = syntax.Symbol(time_point_unit.value)
    return Expression(syntax.Call(("TIMESTAMPDIFF",), (unit, node_of(time_point1), node_of(time_point2))))


def temporal_overlaps(
    left_time_point: Any, left_temporal: Any, right_time_point: Any, right_temporal: Any
) -> Expression:
    """Return whether two periods overlap; each has a start, and an end or an interval."""
    left, right = (left_time_point, left_temporal), (right_time_point, right_temporal)
    periods = [syntax.Row(tuple(map(node_of, each)), explicit=False) for each in (left, right)]
    return Expression(syntax.Binary("OVERLAPS", *periods))


def convert_tz(date_str: Any, tz_from: Any, tz_to: Any) -> Expression:
    """Return the text of a timestamp in another time zone."""
    return _made("CONVERT_TZ", date_str, tz_from, tz_to)


def from_unixtime(unixtime: Any, format: Any = None) -> Expression:
    """Return the text of a moment in seconds since 1970."""
    return _given("FROM_UNIXTIME", unixtime, format)


def unix_timestamp(date_str: Any = None, format: Any = None) -> Expression:
    """Return the seconds since 1970, now or at the timestamp in a text."""
    return _given("UNIX_TIMESTAMP", date_str, format)


def row_interval(rows: int) -> Expression:
    """Return a size of a window in rows."""
    if isinstance(rows, bool) or not isinstance(rows, int):
        raise TypeMismatchError("row_interval takes a number of rows", seen=rows)
    return Expression(InlineRows(rows))


# -- JSON -------------------------------------------------------------------------------------------------------------


def _on_null(behaviour: JsonOnNull) -> tuple[tuple[str, object], ...]:
    return (("ON NULL", behaviour.value),)


def json(value: Any) -> Expression:
    """Return a text as the JSON that it has, as a value of `json_object` or `json_array`."""
    return _made("JSON", value)


def json_string(value: Any) -> Expression:
    """Return a value as JSON."""
    return _made("JSON_STRING", value)


def json_object(on_null: JsonOnNull = JsonOnNull.NULL, *args: Any) -> Expression:
    """Return a JSON object of keys and values, which take turns."""
    return _made("JSON_OBJECT", *args, clauses=_on_null(on_null))


def json_array(on_null: JsonOnNull = JsonOnNull.ABSENT, *args: Any) -> Expression:
    """Return a JSON array of values."""
    return _made("JSON_ARRAY", *args, clauses=_on_null(on_null))


def json_object_agg(on_null: JsonOnNull, key_expr: Any, value_expr: Any) -> Expression:
    """Return a JSON object of the keys and values of a group."""
    return _made("JSON_OBJECTAGG", key_expr, value_expr, clauses=_on_null(on_null))


def json_array_agg(on_null: JsonOnNull, item_expr: Any) -> Expression:
    """Return a JSON array of the values of a group."""
    return _made("JSON_ARRAYAGG", item_expr, clauses=_on_null(on_null))


# -- calls ------------------------------------------------------------------------------------------------------------


def lag(expr: Any, offset: Any = 1, default: Any = None) -> Expression:
    """Return the value of an earlier row of an OVER window."""
    return _given("LAG", expr, offset, default)


def lead(expr: Any, offset: Any = 1, default: Any = None) -> Expression:
    """Return the value of a later row of an OVER window."""
    return _given("LEAD", expr, offset, default)


def call(f: Any, *args: Any) -> Expression:
    """Return a call of a function: by its name in a catalog, or an object that `udf` or `udtf` returned."""
    if isinstance(f, str):
        from headrace.table.api.sql_texts import parsed_name

        return Expression(syntax.Call(parsed_name(f), tuple(map(node_of, args))))
    return Expression(UserCall(f, tuple(map(node_of, args))))


def call_sql(sql_expression: str) -> Expression:
    """Return an expression that is written in SQL."""
    from headrace.table.api.sql_texts import parsed_expression

    return Expression(parsed_expression(sql_expression))
