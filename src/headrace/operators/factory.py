"""Create the running operator for a spec (frozen data): the only module that knows both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.connectors.feedback import FeedbackSource
from headrace.errors import InvalidProgramError
from headrace.graph import specs
from headrace.graph.specs import WindowOperation
from headrace.operators import elementwise
from headrace.operators.async_wait import AsyncWaitOperator
from headrace.operators.base import Operator
from headrace.operators.broadcast import BroadcastProcessOperator
from headrace.operators.cep.event_time import EventTimeCepOperator
from headrace.operators.cep.processing_time import ProcessingTimeCepOperator
from headrace.operators.elementwise import FilterColumnsOperator, MapColumnsOperator
from headrace.operators.event_time import AssignTimestampsOperator
from headrace.operators.interval_join import IntervalJoinOperator, LargeIntervalJoinOperator
from headrace.operators.process import CoProcessOperator, ProcessOperator
from headrace.operators.sinks import (
    CacheSinkOperator,
    CollectSinkOperator,
    FunctionSinkOperator,
    PrintSinkOperator,
    StagedSinkOperator,
)
from headrace.operators.source import FeedbackSinkOperator, FeedbackSourceOperator, SourceOperator
from headrace.operators.windows.aligned import AlignedWindowOperator
from headrace.operators.windows.evicting import CoGroupOperator, EvictingWindowOperator
from headrace.operators.windows.local import CombiningWindowOperator, LargeCombiningWindowOperator, LocalWindowOperator
from headrace.operators.windows.operator import WindowOperator
from headrace.operators.windows.session_operator import SessionWindowOperator
from headrace.windows.session_windows import EventTimeSessionWindows
from headrace.windows.time_triggers import EventTimeTrigger
from headrace.windows.time_windows import SlidingEventTimeWindows, TumblingEventTimeWindows


def window_operator(spec: WindowOperation, large_state: bool = False) -> Operator:
    """Return the operator that runs a window operation. Classes are compared exactly: a subclass may do anything.

    Fast operators keep open windows in memory. State that may be larger needs the general operator, also if records were
    combined before the exchange.

    >>> tumbling = TumblingEventTimeWindows(10, 0)
    >>> type(window_operator(WindowOperation(tumbling, EventTimeTrigger(), "list"))).__name__
    'AlignedWindowOperator'
    >>> type(window_operator(WindowOperation(tumbling, EventTimeTrigger(), "list", allowed_lateness=5))).__name__
    'WindowOperator'
    >>> combined = WindowOperation(tumbling, EventTimeTrigger(), "reduce", max, takes_runs=True)
    >>> type(window_operator(combined)).__name__, type(window_operator(combined, large_state=True)).__name__
    ('CombiningWindowOperator', 'LargeCombiningWindowOperator')
    """
    if spec.takes_runs:
        return LargeCombiningWindowOperator(spec) if large_state else CombiningWindowOperator(spec)
    if spec.evictor is not None:
        return EvictingWindowOperator(spec)
    if not large_state and type(spec.trigger) is EventTimeTrigger and spec.allowed_lateness == 0:
        if type(spec.assigner) in (TumblingEventTimeWindows, SlidingEventTimeWindows):
            return AlignedWindowOperator(spec)
        if type(spec.assigner) is EventTimeSessionWindows:
            return SessionWindowOperator(spec)
    return WindowOperator(spec)


_MAKERS: dict[type[specs.OperatorSpec], Callable[[Any], Operator]] = {
    specs.SourceSpec: lambda s: (
        FeedbackSourceOperator(s.source)
        if isinstance(s.source, FeedbackSource)
        else SourceOperator(s.source, s.strategy)
    ),
    specs.Map: lambda s: elementwise.MapOperator(s.func),
    specs.FlatMap: lambda s: elementwise.FlatMapOperator(s.func),
    specs.Filter: lambda s: elementwise.FilterOperator(s.func),
    specs.MapColumns: lambda s: MapColumnsOperator(s.func, s.taken, s.given),
    specs.FilterColumns: lambda s: FilterColumnsOperator(s.func, s.taken),
    specs.KeyedReduce: lambda s: elementwise.KeyedReduceOperator(s.func),
    specs.Process: lambda s: ProcessOperator(s.func, s.keyed),
    specs.CoMap: lambda s: elementwise.CoMapOperator(s.func),
    specs.CoFlatMap: lambda s: elementwise.CoFlatMapOperator(s.func),
    specs.CoProcess: lambda s: CoProcessOperator(s.func, s.keyed),
    specs.BroadcastProcess: lambda s: BroadcastProcessOperator(s.func, s.keyed, s.descriptors),
    specs.WindowOperation: window_operator,
    specs.LocalWindowAggregate: LocalWindowOperator,
    specs.WindowCoGroup: CoGroupOperator,
    specs.IntervalJoin: IntervalJoinOperator,
    specs.AsyncWait: AsyncWaitOperator,
    specs.Cep: lambda s: EventTimeCepOperator(s) if s.event_time else ProcessingTimeCepOperator(s),
    specs.AssignTimestamps: lambda s: AssignTimestampsOperator(s.strategy),
    specs.FunctionSink: lambda s: FunctionSinkOperator(s.func, s.input_type),
    specs.StagedSink: lambda s: StagedSinkOperator(s.sink, s.input_type),
    specs.PrintSink: lambda s: PrintSinkOperator(s.identifier, s.stderr, s.input_type),
    specs.FeedbackSink: lambda s: FeedbackSinkOperator(s.feedback_id, s.input_type),
    specs.CacheSink: lambda s: CacheSinkOperator(s.collect_id, s.input_type),
    specs.CollectSink: lambda s: CollectSinkOperator(s.collect_id, s.input_type),
}


_FOR_LARGE_STATE: dict[type[specs.OperatorSpec], Callable[[Any], Operator]] = {
    specs.WindowOperation: lambda s: window_operator(s, large_state=True),
    specs.IntervalJoin: LargeIntervalJoinOperator,
}
"""Variants for state that may exceed memory, of operators that otherwise keep data outside their tables."""


def create_operator(spec: specs.OperatorSpec, large_state: bool = False) -> Operator:
    """Return the running operator for `spec`. Specs from other packages (the test kit) define `create_operator`.

    >>> type(create_operator(specs.Map(str.upper))).__name__
    'MapOperator'
    """
    maker = (_FOR_LARGE_STATE.get(type(spec)) if large_state else None) or _MAKERS.get(type(spec))
    if maker is not None:
        return maker(spec)
    own: Callable[[], Operator] | None = getattr(spec, "create_operator", None)
    if own is None:
        raise InvalidProgramError(f"There is no operator for the spec {type(spec).__name__}")
    return own()
