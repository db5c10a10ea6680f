"""OVER windows: their partition, order and frame."""

from __future__ import annotations

from dataclasses import replace

from headrace.table.analysis.calls import Calls
from headrace.table.analysis.errors import invalid, unknown, unsupported
from headrace.table.analysis.uses import OverUse, contains
from headrace.table.functions.definition import AggregateFunction
from headrace.table.plan.rex import Frame, Literal
from headrace.table.sql.syntax import expressions as syntax
from headrace.types import logical_types as types
from headrace.types.logical_types import DataType, DayTimeIntervalType

Windows = dict[str, syntax.WindowSpecification]
_WHOLE_FRAME = frozenset(("ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE", "LAG", "LEAD"))
"""Functions whose frame is not for the statement to choose."""
_MOMENTS = (types.DateType, types.TimeType, types.TimestampType, types.LocalZonedTimestampType)
_NUMBERS = (
    types.TinyIntType, types.SmallIntType, types.IntType, types.BigIntType, types.FloatType, types.DoubleType,
    types.DecimalType,
)  # fmt: skip


def over_use(calls: Calls, node: syntax.Over, windows: Windows) -> OverUse:
    """Return a call over a window."""
    if calls.no_aggregates is not None:
        raise invalid(f"An OVER window is not allowed in {calls.no_aggregates}", node.position)
    call = node.call
    assert isinstance(call, syntax.Call)
    function = calls.context.called(call)
    if not isinstance(function, AggregateFunction):
        raise invalid(f"'{call.name[-1]}' is not an aggregate function", call.position)
    window = _specification(node.window, windows, node.position)
    use = calls.aggregate_use(function, call)
    if any(contains(each, OverUse) for each in use.arguments):
        raise invalid("OVER windows cannot be nested", call.position)
    partition = tuple(calls.all(window.partition_by))
    order = calls.order(window.order_by)
    if function.over_only and function.name not in _WHOLE_FRAME and not order:
        raise invalid(f"'{function.name}' needs an ORDER BY in its window", node.position)
    frame = _frame(calls, function.name, window, [each.value.type for each in order])
    kind = use.type
    return OverUse(kind, replace(use, type=kind), partition, order, frame)


def _specification(
    given: syntax.WindowSpecification | str, windows: Windows, position: int
) -> syntax.WindowSpecification:
    if isinstance(given, str):
        if given not in windows:
            raise unknown("window", given, windows, position)
        return _specification(windows[given], windows, position)
    if given.allow_partial is not None:
        raise unsupported("ALLOW PARTIAL is not supported", given.position)
    if given.base is None:
        return given
    base = _specification(given.base, {k: v for k, v in windows.items() if v is not given}, given.position)
    if given.partition_by:
        raise invalid("A window that refines another one cannot have PARTITION BY", given.position)
    return replace(
        given,
        base=None,
        partition_by=base.partition_by,
        order_by=base.order_by or given.order_by,
        frame=given.frame or base.frame,
    )


def _frame(calls: Calls, name: str, window: syntax.WindowSpecification, order: list[DataType]) -> Frame:
    given = window.frame
    if name in _WHOLE_FRAME:
        if given is not None:
            raise invalid(f"'{name}' does not take ROWS or RANGE", given.position)
        return Frame(name != "LAG", None, 0)  # streaming: rows of one time have the same LAG, as in Flink
    if given is None:
        # The standard's default: up to the current row and its peers if there is an order, else all rows.
        return Frame(False, None, 0 if window.order_by else None)
    rows = given.unit == "ROWS"
    start = _bound(calls, given.start, None if rows else order, False)
    end = 0 if given.end is None else _bound(calls, given.end, None if rows else order, True)
    if start is not None and end is not None and start > end:
        raise invalid("The frame of the window starts after its end", given.position)
    return Frame(rows, start, end)


def _bound(calls: Calls, bound: syntax.FrameBound, order: list[DataType] | None, is_end: bool) -> int | None:
    """Return a bound; `order` are the types of ORDER BY if it is one of RANGE."""
    if bound.kind == "CURRENT ROW":
        return 0
    preceding = bound.kind == "PRECEDING"
    if bound.offset is None:
        if preceding == is_end:
            where = "end" if is_end else "start"
            raise invalid(f"A frame cannot {where} with UNBOUNDED {bound.kind}", bound.position)
        return None
    offset = calls.rex(bound.offset)
    if not isinstance(offset, Literal) or not isinstance(offset.value, int) or isinstance(offset.value, bool):
        raise invalid("The bounds of a frame must be constants", bound.position)
    interval = isinstance(offset.type, DayTimeIntervalType)
    if order is None and interval:
        raise invalid("The bounds of ROWS must be numbers", bound.position)
    if order is not None:
        if len(order) != 1:
            raise invalid("RANGE with bounds needs exactly one column in ORDER BY", bound.position)
        if interval != isinstance(order[0], _MOMENTS) or not (interval or isinstance(order[0], _NUMBERS)):
            remedy = "write RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW, or ROWS"
            fits = "intervals of days to seconds" if isinstance(order[0], _MOMENTS) else "numbers, as the column is"
            raise invalid(f"The bounds of RANGE must be {fits}", bound.position, remedy)
    return -offset.value if preceding else offset.value
