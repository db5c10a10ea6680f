"""Aggregate calls, orders and windows in the form of operator specs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace.graph.table_specs import AggregateSpec, SortOrder, TimeWindow
from headrace.table.errors import SqlNotSupportedError
from headrace.table.functions.definition import NOT_CONSTANT, Accumulation, Argument, CallSite, Session
from headrace.table.plan.relations import Window
from headrace.table.plan.rex import AggregateCall, SortKey
from headrace.types.logical_types import RowType


def aggregate_specs(
    calls: Sequence[AggregateCall],
    row_type: RowType,
    session: Session,
    retracts: bool,
    slides: bool = False,
    final: Sequence[AggregateCall] = (),
    over: bool = False,
) -> tuple[AggregateSpec, ...]:
    """Return the specs of calls over rows of a type, which may be retracted.

    With `slides`, rows leave the frame of the calls: functions that can take back rows are then cheaper. The results of the
    calls in `final` do not depend on rows that are taken back. `over`: they are calls of an OVER window.
    """
    return tuple(_aggregate_spec(call, row_type, session, retracts, slides, call in final, over) for call in calls)


def _aggregate_spec(
    call: AggregateCall, row_type: RowType, session: Session, retracts: bool, slides: bool, final: bool, over: bool
) -> AggregateSpec:
    kinds = row_type.field_types()
    constants = (*call.constants, *(NOT_CONSTANT,) * (len(call.arguments) - len(call.constants)))
    arguments = tuple(Argument(kinds[column], value) for column, value in zip(call.arguments, constants))
    site = CallSite(arguments, call.type, session, call.ignore_nulls, over)
    function = call.function
    make = function.retracting if (retracts or slides) and function.retracting is not None else function.rows
    accumulation = _Unretracted(function.rows(site)) if final else make(site)
    if retracts and not accumulation.can_retract:
        raise SqlNotSupportedError(
            f"The aggregate function {function.name} cannot take back rows, but its input has updates",
            remedy="implement retract() of the function, or aggregate an append-only table",
        )
    columns = None if retracts or slides or function.columns is None else function.columns(site)
    return AggregateSpec(
        accumulation, call.arguments, call.filter, call.distinct, sort_orders(call.order_by), columns, function.name
    )


class _Unretracted(Accumulation):
    """A function over updated rows that ignores their old values."""

    def __init__(self, function: Accumulation) -> None:
        self._function = function

    def create(self) -> Any:
        return self._function.create()

    def add(self, accumulator: Any, *arguments: Any) -> Any:
        return self._function.add(accumulator, *arguments)

    def retract(self, accumulator: Any, *arguments: Any) -> Any:
        return accumulator

    def merge(self, accumulator: Any, other: Any) -> Any:
        return self._function.merge(accumulator, other)

    def result(self, accumulator: Any) -> Any:
        return self._function.result(accumulator)


def can_merge(specs: Sequence[AggregateSpec]) -> bool:
    """Return whether partial results of all calls can be merged: none is distinct or ordered, all know how to."""
    return all(
        not spec.distinct
        and not spec.order_by
        and isinstance(spec.accumulation, Accumulation)
        and type(spec.accumulation).merge is not Accumulation.merge
        for spec in specs
    )


def sort_orders(keys: Sequence[SortKey]) -> tuple[SortOrder, ...]:
    """Return the columns to sort by."""
    return tuple(SortOrder(key.index, key.descending, key.nulls_first) for key in keys)


def time_window(window: Window) -> TimeWindow:
    """Return the window of a spec."""
    return TimeWindow(window.kind, window.size, window.slide, window.offset)
