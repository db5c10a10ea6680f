"""The base of all running operators.

An operator is fed by its task or by the operator before it: runs of records (`process_batch`), watermarks, idleness, clock
moves; it hands results to `output`. It never changes the lists that it is given. A failure of user code becomes a
`UserCodeError` with operator, subtask and record; the record is found from how far the batch's iterator had come, so the
good path pays nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import length_hint
from typing import Any

from headrace.common.watermark_strategy import MIN_TIMESTAMP
from headrace.errors import HeadraceError, UserCodeError
from headrace.operators import function_state
from headrace.operators.clock import ManualClock
from headrace.operators.context import OperatorContext
from headrace.operators.output import LatencyMarker, Output, Timestamps, Values
from headrace.operators.runtime_context import TaskRuntimeContext


class Place(str):
    """Words that stand where an error names a record, as when a timer fails: shown without quotes.

    >>> Place("timer at 5")
    timer at 5
    """

    __slots__ = ()
    __repr__ = str.__str__


class Operator:
    """One operator of one subtask."""

    takes_columns = False
    """Whether its input may stay a `ColumnRun`; else it is given the rows."""

    def __init__(self) -> None:
        self.output = Output()
        self.context: OperatorContext
        self.watermark = MIN_TIMESTAMP

    # -- life -----------------------------------------------------------------------------------------------------

    def setup(self, context: OperatorContext) -> None:
        """Takes the surroundings; called once, before state is restored and before `open`."""
        self.context = context

    def user_functions(self) -> Sequence[Any]:
        """The functions of the program that this operator calls; those with state of their own must always come in one order."""
        return ()

    def initialize_functions(self) -> None:
        """Gives user functions their state; called before they are opened."""
        for call, argument in function_state.initialize(self.user_functions(), self.context):
            self.guarded(call, argument)

    def open(self) -> None:
        """Opens user functions; state is there."""

    def snapshot(self, checkpoint_id: int, timestamp: int) -> None:
        """A checkpoint is being taken: user functions bring their state up to date. Called after `end_epoch`."""
        self.guarded(function_state.snapshot, self.user_functions(), self.context, checkpoint_id, timestamp)

    @property
    def has_function_state(self) -> bool:
        """Whether a function keeps state that only `snapshot` brings into the operator's state."""
        return any(map(function_state.is_checkpointed, self.user_functions()))

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """A checkpoint is durable: tells functions that listen."""
        self._tell("notify_checkpoint_complete", checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """A checkpoint was given up: tells functions that listen."""
        self._tell("notify_checkpoint_aborted", checkpoint_id)

    def _tell(self, method: str, checkpoint_id: int) -> None:
        for function in self.user_functions():
            listener = getattr(function, method, None)
            if callable(listener):
                self.guarded(listener, checkpoint_id)

    def end_epoch(self) -> None:
        """All input of the epoch has been seen."""

    def finish(self) -> None:
        """All input of the job has been seen (after the watermark MAX)."""

    def close(self) -> None:
        """Releases what user functions hold; called once whatever happened."""

    # -- input ----------------------------------------------------------------------------------------------------

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """A run of records of the first input."""
        raise NotImplementedError

    def process_batch2(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """A run of records of the second input."""
        raise NotImplementedError

    def process_watermark(self, timestamp: int) -> None:
        """Event time of all inputs has reached `timestamp`."""
        self.watermark = timestamp
        self.output.emit_watermark(timestamp)

    def process_idle(self, idle: bool) -> None:
        """All inputs are idle, or one is active again."""
        self.output.emit_idle(idle)

    def process_clock(self, now: int) -> None:
        """An injected clock has moved: sets it, fires what is due, tells those downstream."""
        clock = self.context.clock
        if isinstance(clock, ManualClock) and now > clock.now():
            clock.set(now)
        self.advance_processing_time(now)
        self.output.emit_clock(now)

    def process_marker(self, marker: LatencyMarker) -> None:
        """A latency marker passes: keeps how long it was on its way, and hands it on."""
        self.context.observe_latency(marker)
        self.output.emit_marker(marker)

    def advance_processing_time(self, now: int) -> None:
        """The clock has moved: fires processing-time timers."""

    def next_processing_timer(self) -> int | None:
        """When this operator next wants `advance_processing_time`."""
        return None

    # -- errors ---------------------------------------------------------------------------------------------------

    def failure(self, error: Exception, values: Values, progress: Iterator[Any] | None) -> HeadraceError:
        """What to raise for an exception out of user code while `progress` ran over `values`."""
        record = None
        if progress is not None and values:
            index = len(values) - length_hint(progress) - 1
            record = values[index] if 0 <= index < len(values) else None
        return self.failure_for(error, record)

    def failure_for(self, error: Exception, record: Any) -> HeadraceError:
        """What to raise for an exception out of user code at `record`."""
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
        """Calls a life-cycle method of a user function; its failure names the operator."""
        try:
            return call(*args)
        except Exception as error:
            raise self.failure_for(error, None) from error


class FunctionOperator(Operator):
    """An operator around one user function: opened with a runtime context, closed once."""

    def __init__(self, func: Any) -> None:
        super().__init__()
        self.func = func

    def user_functions(self) -> Sequence[Any]:
        """The one function."""
        return (self.func,)

    def open(self) -> None:
        """Gives the function its state, then calls its `open(runtime_context)` if it has one."""
        self.initialize_functions()
        opener = getattr(self.func, "open", None)
        if callable(opener):
            self.guarded(opener, TaskRuntimeContext(self.context))

    def close(self) -> None:
        """Calls the function's `close()` if it has one."""
        closer = getattr(self.func, "close", None)
        if callable(closer):
            self.guarded(closer)

    @property
    def is_rich(self) -> bool:
        """Whether the function may hold keyed state: it has an `open` or `initialize_state` of its own to get it in."""
        opener = getattr(self.func, "open", None)
        if callable(getattr(self.func, "initialize_state", None)):
            return True
        return callable(opener) and getattr(opener, "__qualname__", "") != "Function.open"


def method_of(func: Any, name: str) -> Callable[..., Any]:
    """The function's method `name`, or the function itself if it is a plain callable.

    >>> method_of(len, "map")("abc")
    3
    """
    method = getattr(func, name, None)
    return method if callable(method) else func  # type: ignore[no-any-return]
