"""(Keyed)BroadcastProcessFunction: elements read broadcast state, broadcast elements write it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import Any

from headrace.errors import InvalidProgramError
from headrace.operators.output import Timestamps, Values
from headrace.operators.process import (
    ElementContext,
    FunctionTimerService,
    KeylessTimerService,
    TimedFunctionOperator,
    TimerContext,
)
from headrace.state.keyed_backend import NO_KEY
from headrace.state.opaque_key import unwrap_key


class _BroadcastAccess:
    """Gives contexts access to the broadcast states that the stream was declared with."""

    operator: BroadcastProcessOperator
    read_only = True

    def get_broadcast_state(self, state_descriptor: Any) -> Any:
        """Return the broadcast state; a read-only view of it except in `process_broadcast_element`."""
        return self.operator.broadcast_state(state_descriptor, read_only=self.read_only)

    def current_processing_time(self) -> int:
        return self.operator.context.clock.now()

    def current_watermark(self) -> int:
        return self.operator.watermark


class ReadOnlyBroadcastContext(_BroadcastAccess, ElementContext):
    """The `ctx` of `process_element`."""


class BroadcastTimerContext(_BroadcastAccess, TimerContext):
    """The `ctx` of `on_timer`."""


class BroadcastContext(_BroadcastAccess, ElementContext):
    """The `ctx` of `process_broadcast_element`: broadcast state can be changed, keyed state visited."""

    read_only = False

    def apply_to_keyed_state(self, state_descriptor: Any, function: Callable[[Any, Any], None]) -> None:
        """Call `function(key, state)` for every key that has this state."""
        backend = self.operator.context.keyed_state
        state = backend.get_state(state_descriptor)
        before = backend.key
        try:
            for key in backend.keys_of(state_descriptor):
                backend.key = key
                function(unwrap_key(key), state)
        finally:
            backend.key = before


class BroadcastProcessOperator(TimedFunctionOperator):
    """Input 1: `process_element`; input 2: `process_broadcast_element`."""

    def __init__(self, func: Any, keyed: bool, descriptors: tuple[Any, ...]) -> None:
        super().__init__(func, keyed)
        self._names = {d.get_name() for d in descriptors}

    def open(self) -> None:
        super().open()
        timers = FunctionTimerService(self)
        self._broadcast_context = BroadcastContext(KeylessTimerService(self), self.context.keyed_state)
        self._broadcast_context.operator = self
        self.timer_context = BroadcastTimerContext(timers, self.context.keyed_state)
        self.timer_context.operator = self

    def make_element_context(self, timers: FunctionTimerService) -> ElementContext:
        """Return a context with a read-only view of broadcast state."""
        context = ReadOnlyBroadcastContext(timers, self.context.keyed_state)
        context.operator = self
        return context

    def broadcast_state(self, descriptor: Any, *, read_only: bool) -> Any:
        """Return the broadcast state of a descriptor that was passed to `broadcast(...)`."""
        name = descriptor.get_name()
        if name not in self._names:
            raise InvalidProgramError(
                f"The requested state {name!r} does not exist in the broadcast state of this operator.",
                operator_name=self.context.name,
                uid=self.context.uid,
                expected=f"one of {sorted(self._names)}",
                remedy="pass its MapStateDescriptor to broadcast(...) before connect().",
            )
        backend = self.context.operator_state
        state = backend.get_broadcast_state(descriptor)
        return state.read_only() if read_only else state

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self.run_elements(self.func.process_element, self.element_context, values, timestamps, keys)

    def process_batch2(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        call = self.func.process_broadcast_element
        self.run_elements(call, self._broadcast_context, values, timestamps, repeat(NO_KEY))
