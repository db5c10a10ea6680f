"""Which operator runs a window operation: a fast one where results are the same, else the general one."""

from __future__ import annotations

from headrace.graph.specs import WindowOperation
from headrace.operators.base import Operator
from headrace.operators.windows.aligned import AlignedWindowOperator
from headrace.operators.windows.combining import CombiningWindowOperator, LargeCombiningWindowOperator
from headrace.operators.windows.evicting import EvictingWindowOperator
from headrace.operators.windows.operator import WindowOperator
from headrace.operators.windows.session_operator import SessionWindowOperator
from headrace.windows.session_windows import EventTimeSessionWindows
from headrace.windows.sliding_windows import SlidingEventTimeWindows
from headrace.windows.time_triggers import EventTimeTrigger
from headrace.windows.tumbling_windows import TumblingEventTimeWindows


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
