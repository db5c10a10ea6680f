"""Which window operations may combine records before they reach their windows, and before they are sent over the network.

Decides from the program alone. Combining must not change any result, so what only records can show is checked during
processing (`merge_check`). Called when the program is built, and by the operators.
"""

from __future__ import annotations

from typing import Any

from headrace.graph.specs import WindowOperation
from headrace.operators.function_state import is_checkpointed
from headrace.windows.time_triggers import EventTimeTrigger
from headrace.windows.time_windows import SlidingEventTimeWindows, TumblingEventTimeWindows


def can_pre_aggregate(spec: WindowOperation) -> bool:
    """Return whether records of a key may be combined before the exchange.

    1. Tumbling or sliding windows of event time without gaps, the default trigger and no evictor: then a record's pane
       determines its windows. Classes are compared exactly: a subclass may do anything.
    2. No allowed lateness: each late element would fire its window again. No side output of late elements: it shows
       them one by one.
    3. A function that can combine (`can_combine`).

    >>> tumbling = TumblingEventTimeWindows(10, 0)
    >>> can_pre_aggregate(WindowOperation(tumbling, EventTimeTrigger(), "reduce", max))
    True
    >>> can_pre_aggregate(WindowOperation(tumbling, EventTimeTrigger(), "reduce", max, allowed_lateness=5))
    False
    """
    assigner = spec.assigner
    return (
        type(assigner) in (TumblingEventTimeWindows, SlidingEventTimeWindows)
        and getattr(assigner, "slide", assigner.size) <= assigner.size
        and type(spec.trigger) is EventTimeTrigger
        and spec.evictor is None
        and spec.allowed_lateness == 0
        and spec.late_tag is None
        and can_combine(spec.kind, spec.combiner)
    )


def can_combine(kind: str, combiner: Any) -> bool:
    """Return whether partial results of a function can be combined: those of reduce, and of aggregate with a `merge`.

    A function with an `open` of its own, or with state of the subtask, may depend on what exists only after the
    exchange.

    >>> class Sum:
    ...     create_accumulator = int
    ...
    ...     def merge(self, a, b):
    ...         return a + b
    >>> class WithoutMerge(Sum):
    ...     def merge(self, a, b):
    ...         raise NotImplementedError
    >>> can_combine("aggregate", Sum()), can_combine("aggregate", WithoutMerge()), can_combine("list", None)
    (True, False, False)
    """
    opener = getattr(combiner, "open", None)
    if is_checkpointed(combiner) or (callable(opener) and getattr(opener, "__qualname__", "") != "Function.open"):
        return False
    return kind == "reduce" or (kind == "aggregate" and _has_merge(combiner))


def _has_merge(function: Any) -> bool:
    """Return whether `merge` is more than a placeholder, which raises or returns None. Try it on empty accumulators."""
    try:
        empty = function.create_accumulator()
        return empty is None or function.merge(empty, function.create_accumulator()) is not None
    except NotImplementedError:
        return False
    except Exception:  # it may well merge accumulators that are not empty
        return True
