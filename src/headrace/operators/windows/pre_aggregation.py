"""Which window operations may combine records before they reach their windows, and before they are sent over the network.

Decides by what the program says: combining early must not change any result. Called when the program is built, and by the
operators.
"""

from __future__ import annotations

import dis
import inspect
from types import CodeType
from typing import Any

from headrace.graph.specs import WindowOperation
from headrace.operators.function_state import is_checkpointed
from headrace.windows.sliding_windows import SlidingEventTimeWindows
from headrace.windows.time_triggers import EventTimeTrigger
from headrace.windows.tumbling_windows import TumblingEventTimeWindows

__all__ = ["can_combine", "can_pre_aggregate"]


def can_pre_aggregate(spec: WindowOperation) -> bool:
    """Whether records of a key may be combined before the exchange.

    1. Tumbling or sliding windows of event time without gaps, the default trigger and no evictor: then a record's pane says all
       about its windows. Classes are compared exactly: a subclass may do anything.
    2. No allowed lateness: each late element would fire its window once more. No side output of late elements: it shows them one
       by one.
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
    """Whether two results of the function can be made one: always for reduce, by `merge` for aggregate if it is written.

    A function with an `open` of its own, or with state of the subtask, may keep what there is only behind the exchange.

    >>> class Sum:
    ...     def merge(self, a, b):
    ...         return a + b
    >>> class Unmerged:
    ...     def merge(self, a, b):
    ...         raise NotImplementedError
    >>> can_combine("aggregate", Sum()), can_combine("aggregate", Unmerged()), can_combine("list", None)
    (True, False, False)
    """
    opener = getattr(combiner, "open", None)
    if is_checkpointed(combiner) or (callable(opener) and getattr(opener, "__qualname__", "") != "Function.open"):
        return False
    return kind == "reduce" or (kind == "aggregate" and _is_written(combiner.merge))


def _is_written(merge: Any) -> bool:
    """Whether a method looks at its arguments; one that only raises or passes is there because the class demands it."""
    function = getattr(merge, "__func__", merge)
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        return callable(merge)
    if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):  # a decorator, most likely
        return True
    names = code.co_varnames[: code.co_argcount][-2:]
    read: set[Any] = set()
    for instruction in dis.get_instructions(code):
        if any(kind in instruction.opname for kind in ("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE")):
            read.update(instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,))
    return read.issuperset(names)
