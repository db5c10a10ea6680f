"""Window table functions: TUMBLE, HOP, CUMULATE and SESSION in the FROM clause."""

from __future__ import annotations

from collections.abc import Callable

from headrace.table.analysis.context import Context
from headrace.table.analysis.errors import invalid, unknown
from headrace.table.analysis.expressions import Expressions
from headrace.table.analysis.joins import Source
from headrace.table.analysis.scopes import Scope, row_of
from headrace.table.analysis.time_attributes import attribute
from headrace.table.functions.type_text import sql_text
from headrace.table.plan.relations import Relation, Window, WindowTable
from headrace.table.plan.rex import InputRef, Literal
from headrace.table.sql.syntax import expressions as syntax
from headrace.types.logical_types import DataType, DayTimeIntervalType, LocalZonedTimestampType, TimestampType

WINDOW_FUNCTIONS: dict[str, tuple[str, ...]] = {
    "TUMBLE": ("DATA", "TIMECOL", "SIZE", "OFFSET"),
    "HOP": ("DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"),
    "CUMULATE": ("DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"),
    "SESSION": ("DATA", "TIMECOL", "GAP"),
}
"""The parameters of window table functions, in their order."""

TableOf = Callable[[syntax.Expression], Source]


def window_table(context: Context, call: syntax.Call, outer: Scope | None, table_of: TableOf) -> Relation:
    """Return the rows of a table with their windows."""
    kind = call.name[0].upper()
    arguments = _by_name(kind, call)
    source = table_of(arguments["DATA"])
    time = _time_column(context, kind, arguments["TIMECOL"], source)
    expressions = Expressions(context, Scope(source.relation.row_type, (), outer), no_aggregates="FROM")
    sizes = {
        name: _interval(expressions, name, arguments[name])
        for name in ("SIZE", "SLIDE", "STEP", "GAP", "OFFSET")
        if name in arguments
    }
    size = sizes.get("SIZE", sizes.get("GAP", 0))
    slide = sizes.get("SLIDE", sizes.get("STEP", 0))
    if kind == "CUMULATE" and size % slide:
        raise invalid("The size of CUMULATE must be a multiple of its step", call.position)
    if kind == "HOP" and size % slide:
        raise invalid("The size of HOP must be a multiple of its slide", call.position)
    if abs(sizes.get("OFFSET", 0)) >= (size if kind == "TUMBLE" else slide or size + 1):
        raise invalid(
            f"The offset of {kind} must be shorter than its {'size' if kind == 'TUMBLE' else 'slide'}", call.position
        )
    partition = _partition(context, source, arguments["DATA"])
    window = Window(kind, time, size, slide, sizes.get("OFFSET", 0), partition)
    return with_window_columns(source.relation, window)


def with_window_columns(relation: Relation, window: Window) -> Relation:
    """Return the rows of a relation with window_start, window_end and window_time."""
    row = relation.row_type
    kind: DataType = row.fields[window.time].data_type
    bound = TimestampType(3, is_nullable=False)
    names = [*row.field_names(), "window_start", "window_end", "window_time"]
    types = [*row.field_types(), bound, bound, kind.not_null()]
    return WindowTable(row_of(names, types), relation, window)


def _by_name(kind: str, call: syntax.Call) -> dict[str, syntax.Expression]:
    parameters = WINDOW_FUNCTIONS[kind]
    found: dict[str, syntax.Expression] = {}
    for place, each in enumerate(call.arguments):
        if isinstance(each, syntax.NamedArgument):
            name = each.name.upper()
            if name not in parameters:
                raise unknown("argument", each.name, parameters, each.position)
            found[name] = each.value
        elif place < len(parameters):
            found[parameters[place]] = each
        else:
            raise invalid(f"{kind} takes at most {len(parameters)} arguments", each.position)
    for name in parameters:
        if name not in found and name != "OFFSET":
            usage = f"{kind}(TABLE t, DESCRIPTOR(time_column), {', '.join(parameters[2:])})"
            raise invalid(f"{kind} lacks the argument {name}", call.position, f"write {usage}")
    return {name: value for name, value in found.items() if not isinstance(value, syntax.Default)}


def _time_column(context: Context, kind: str, node: syntax.Expression, source: Source) -> int:
    if not isinstance(node, syntax.Call) or (node.name != ("DESCRIPTOR",) and node.name[0].upper() != "DESCRIPTOR"):
        raise invalid(f"The time column of {kind} must be given as DESCRIPTOR(column)", node.position)
    if len(node.arguments) != 1 or not isinstance(node.arguments[0], syntax.Identifier):
        raise invalid("DESCRIPTOR must name one column here", node.position)
    column = source.scope.column(node.arguments[0].names, node.arguments[0].position)
    timed = isinstance(column.type, (TimestampType, LocalZonedTimestampType))
    if not isinstance(column, InputRef) or not timed or (attribute(column.type) is None and not context.session.batch):
        remedy = "declare it with WATERMARK FOR in CREATE TABLE, or with PROCTIME()"
        message = f"{kind} needs a time attribute, but '{node.arguments[0].names[-1]}' is {sql_text(column.type)}"
        raise invalid(message, node.arguments[0].position, remedy)
    return column.index


def _interval(expressions: Expressions, name: str, node: syntax.Expression) -> int:
    value = expressions.rex(node)
    if not isinstance(value, Literal) or not isinstance(value.type, DayTimeIntervalType):
        raise invalid(f"{name} must be a constant interval of days to seconds", node.position)
    if name != "OFFSET" and value.value <= 0:
        raise invalid(f"{name} must be greater than zero", node.position)
    return int(value.value)


def _partition(context: Context, source: Source, node: syntax.Expression) -> tuple[int, ...]:
    if not isinstance(node, syntax.TableArgument):
        return ()
    columns = Expressions(context, source.scope, no_aggregates="PARTITION BY").all(node.partition_by)
    if not all(isinstance(each, InputRef) for each in columns):
        raise invalid("PARTITION BY of a table argument must name columns", node.position)
    return tuple(each.index for each in columns if isinstance(each, InputRef))
