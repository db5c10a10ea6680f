"""The base of all running operators.

The task, or the operator before it, feeds an operator: runs of records (`process_batch`), watermarks, idleness, clock
moves. The operator passes results to `output`. It never changes lists that it receives. A failure of user code becomes a
`UserCodeError` with operator, subtask and record. The record is derived from the position of the batch's iterator, so
successful calls cost nothing extra.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import length_hint
from typing import Any

from headrace.common.watermark_strategy import MIN_TIMESTAMP
from headrace.errors import HeadraceError, UserCodeError
from headrace.operators import function_state
from headrace.operators.clock import ManualClock
from headrace.operators.context import OperatorContext, TaskRuntimeContext
from headrace.operators.output import LatencyMarker, Output, Timestamps, Values


class Place(str):
    """A description that an error shows, without quotes, instead of a record, such as the timer that failed.

    >>> Place("timer at 5")
    timer at 5
    """

    __slots__ = ()
    __repr__ = str.__str__


class Operator:
    """One operator of one subtask."""

    takes_columns = False
    """Whether its input may be a `ColumnRun`; otherwise it receives rows."""

    grouped_in_batch = True
    """Whether batch mode replays keyed input key by key. Operators of tables see it in the order in which it comes."""

    def __init__(self) -> None:
        self.output = Output()
        self.context: OperatorContext
        self.watermark = MIN_TIMESTAMP

    # -- life -----------------------------------------------------------------------------------------------------

    def setup(self, context: OperatorContext) -> None:
        """Take the context. Called once, before state is restored and before `open`."""
        self.context = context

    def user_functions(self) -> Sequence[Any]:
        """Return the user functions that this operator calls, always in the same order: their state depends on it."""
        return ()

    def initialize_functions(self) -> None:
        """Initialize the state of user functions, before they are opened."""
        for call, argument in function_state.initialize(self.user_functions(), self.context):
            self.guarded(call, argument)

    def open(self) -> None:
        """Open user functions. State has been restored."""

    def snapshot(self, checkpoint_id: int, timestamp: int) -> None:
        """Let user functions bring their state up to date for a checkpoint. Called after `end_epoch`."""
        self.guarded(function_state.snapshot, self.user_functions(), self.context, checkpoint_id, timestamp)

    @property
    def has_function_state(self) -> bool:
        """Return whether a function keeps state that only `snapshot` writes to the operator's state."""
        return any(map(function_state.is_checkpointed, self.user_functions()))

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Tell functions that listen that a checkpoint is durable."""
        self._tell("notify_checkpoint_complete", checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Tell functions that listen that a checkpoint was aborted."""
        self._tell("notify_checkpoint_aborted", checkpoint_id)

    def _tell(self, method: str, checkpoint_id: int) -> None:
        for function in self.user_functions():
            listener = getattr(function, method, None)
            if callable(listener):
                self.guarded(listener, checkpoint_id)

    def end_epoch(self) -> None:
        """Handle the end of the epoch's input."""

    def finish(self) -> None:
        """Handle the end of the job's input, after the watermark MAX."""

    def close(self) -> None:
        """Release what user functions hold. Called once, also after a failure."""

    # -- input ----------------------------------------------------------------------------------------------------

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Process a run of records of the first input."""
        raise NotImplementedError

    def process_batch2(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Process a run of records of the second input."""
        raise NotImplementedError

    def process_watermark(self, timestamp: int) -> None:
        """Advance the event time of all inputs to `timestamp`."""
        self.watermark = timestamp
        self.output.emit_watermark(timestamp)

    def process_idle(self, idle: bool) -> None:
        """Forward that all inputs are idle, or that one is active again."""
        self.output.emit_idle(idle)

    def process_clock(self, now: int) -> None:
        """Advance an injected clock, fire due timers, and forward the time."""
        clock = self.context.clock
        if isinstance(clock, ManualClock) and now > clock.now():
            clock.set(now)
        self.advance_processing_time(now)
        self.output.emit_clock(now)

    def process_marker(self, marker: LatencyMarker) -> None:
        """Record the latency of a marker and forward it."""
        self.context.observe_latency(marker)
        self.output.emit_marker(marker)

    def advance_processing_time(self, now: int) -> None:
        """Fire processing-time timers up to `now`."""

    def next_processing_timer(self) -> int | None:
        """Return when this operator next needs `advance_processing_time`."""
        return None

    # -- errors ---------------------------------------------------------------------------------------------------

    def failure(self, error: Exception, values: Values, progress: Iterator[Any] | None) -> HeadraceError:
        """Return the error for an exception of user code while `progress` iterated over `values`."""
        record = None
        if progress is not None and values:
            index = len(values) - length_hint(progress) - 1
            record = values[index] if 0 <= index < len(values) else None
        return self.failure_for(error, record)

    def failure_for(self, error: Exception, record: Any) -> HeadraceError:
        """Return the error for an exception of user code at `record`."""
        if isinstance(error, HeadraceError):
            if error.operator_name is None:
                error.operator_name, error.uid = self.context.name, self.context.uid
            return error
        return UserCodeError.wrap(
            error,
            operator_name=self.context.name,
            uid=self.context.uid,
            subtask=self.context.task.subtask,
            record=record,
        )

    def guarded(self, call: Callable[..., Any], *args: Any) -> Any:
        """Call a life-cycle method of a user function. Its failure names the operator."""
        try:
            return call(*args)
        except Exception as error:
            raise self.failure_for(error, None) from error


class FunctionOperator(Operator):
    """An operator with one user function, which is opened with a runtime context and closed once."""

    def __init__(self, func: Any) -> None:
        super().__init__()
        self.func = func

    def user_functions(self) -> Sequence[Any]:
        return (self.func,)

    def open(self) -> None:
        """Initialize the function's state, then call its `open(runtime_context)` if it has one."""
        self.initialize_functions()
        opener = getattr(self.func, "open", None)
        if callable(opener):
            self.guarded(opener, TaskRuntimeContext(self.context))

    def close(self) -> None:
        """Call the function's `close()` if it has one."""
        closer = getattr(self.func, "close", None)
        if callable(closer):
            self.guarded(closer)

    @property
    def is_rich(self) -> bool:
        """Return whether the function may use keyed state: it defines `open` or `initialize_state`."""
        opener = getattr(self.func, "open", None)
        if callable(getattr(self.func, "initialize_state", None)):
            return True
        return callable(opener) and getattr(opener, "__qualname__", "") != "Function.open"


def method_of(func: Any, name: str) -> Callable[..., Any]:
    """Return the function's method `name`, or the function itself if it is a plain callable.

    >>> method_of(len, "map")("abc")
    3
    """
    method = getattr(func, name, None)
    return method if callable(method) else func  # type: ignore[no-any-return]


LATE_RECORDS_DROPPED = "numLateRecordsDropped"
"""Flink's name for the counter, in the operator's metric group."""


class OperatorWithLateRecords(Operator):
    """An operator for which records can be late."""

    def setup(self, context: OperatorContext) -> None:
        """Create the counter, so that it exists before any record is late."""
        super().setup(context)
        self._dropped = self.context.metrics.counter(LATE_RECORDS_DROPPED)

    @property
    def late_dropped(self) -> int:
        """Return how many late records were dropped."""
        return self._dropped.get_count()

    def drop_late(self, number: int) -> None:
        if number:
            self._dropped.inc(number)

    def late_to(self, tag: str | None, values: Values, timestamps: Timestamps) -> None:
        """Send late records to the side output `tag`; drop them if there is none."""
        if tag is None:
            self.drop_late(len(values))
        else:
            self.output.emit_side(tag, values, timestamps)
