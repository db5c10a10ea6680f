"""The base of both CEP operators: functions and conditions, feeding one key's events to the matcher, results.

A key's branches are one entry of the table `cep/branches`, its waiting events are one entry of `cep/queue`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cmp_to_key
from operator import itemgetter
from typing import Any

from headrace.common.output_tag import OutputTag
from headrace.errors import TypeMismatchError
from headrace.graph.specs import Cep
from headrace.operators.base import FunctionOperator, OperatorWithLateRecords
from headrace.operators.cep.compiler import compile_pattern
from headrace.operators.cep.decisions import owners_of
from headrace.operators.cep.key_state import KeyState
from headrace.operators.cep.matcher import Match, Matcher
from headrace.operators.clock import Clock
from headrace.operators.context import TaskRuntimeContext
from headrace.operators.output import Values, emit_tagged
from headrace.state.table import Table

Event = tuple[int, Any]
"""(time, value)"""


class MatchContext:
    """The `ctx` of `process_match` and `process_timed_out_match`."""

    __slots__ = ("_clock", "sides", "time")

    def __init__(self, clock: Clock) -> None:
        self.time = 0
        self.sides: dict[str, tuple[list[Any], list[int | None]]] = {}
        self._clock = clock

    def timestamp(self) -> int:
        """Return the time of the event that completed the match; of a timed-out match, when its window ended."""
        return self.time

    def current_processing_time(self) -> int:
        return self._clock.now()

    def output(self, output_tag: OutputTag, value: Any) -> None:
        if not isinstance(output_tag, OutputTag):
            raise TypeMismatchError("ctx.output takes an OutputTag and a value", seen=output_tag)
        values, times = self.sides.setdefault(output_tag.tag_id, ([], []))
        values.append(value)
        times.append(self.time)


class CepOperator(FunctionOperator, OperatorWithLateRecords):
    """The base class: subclasses decide when events are fed, and register timers.

    Flink registers a timer for every start of a partial match, and each of them moves a key's time. This is done
    here where it is visible (`timer_per_start`); in event time without gaps a timer for the earliest branch is enough.
    """

    def __init__(self, spec: Cep) -> None:
        super().__init__(spec.func)
        self.spec = spec
        self._nfa = compile_pattern(spec.pattern)
        self._owners = owners_of(spec.pattern)
        self._sort_key = _sort_key(spec.comparator)
        self._results: Values = []
        self._times: list[int | None] = []

    def user_functions(self) -> Sequence[Any]:
        """Return the function for matches, then the conditions."""
        return (self.func, *self._owners)

    def open(self) -> None:
        """Find the state, make the matcher, open conditions and function."""
        OperatorWithLateRecords.open(self)  # not that of FunctionOperator: the function is opened after the conditions
        context = self.context
        self.match_context = MatchContext(context.clock)
        self._on_match: Callable[[Match, MatchContext], Any] = self.func.process_match
        self._on_timeout = getattr(self.func, "process_timed_out_match", None)
        self.matcher = Matcher(
            self._nfa, self.spec.pattern.skip, timeouts=self._on_timeout is not None, now=context.clock.now
        )
        self.timer_per_start = self.matcher.window > 0 and (self.matcher.has_gaps or not self.spec.event_time)
        self.branches: Table = context.keyed_state.table("cep/branches")
        self.queue: Table = context.keyed_state.table("cep/queue")
        self.initialize_functions()
        for owner in (*self._owners, self.func):
            opener = getattr(owner, "open", None)
            if callable(opener):
                self.guarded(opener, TaskRuntimeContext(context))

    def close(self) -> None:
        for owner in self._owners:
            closer = getattr(owner, "close", None)
            if callable(closer):
                self.guarded(closer)
        super().close()

    # -- one key --------------------------------------------------------------------------------------------------

    def feed(self, key: Any, events: Iterable[Event], until: int | None) -> KeyState | None:
        """Run events of one key in order, then move its time to `until`. Return the state if any is left."""
        self.context.keyed_state.key = key
        data = self.branches.data
        state: KeyState | None = data.get(key)
        was_there = state is not None
        if state is None:
            state = KeyState()
        branches, size = state.branches, len(state.branches)
        waiting = len(state.complete)
        matcher = self.matcher
        advance, process, timed = matcher.advance, matcher.process, matcher.has_time_limits
        per_start, window = self.timer_per_start, matcher.window
        value: Any = None
        before: int | None = None
        try:
            for time, value in events:
                # Once per time: an event does not end a branch that another of the same time moved to a state with a limit.
                if timed and time != before and state.branches:
                    moved = advance(state, time)
                    if moved is not None:
                        self._deliver_moved(moved, time)
                found = process(state, value, time)
                if found:
                    self._deliver(found, time)
                before = time
                if window and matcher.started and (per_start or (state.branches and state.branches[0][3] <= 0)):
                    self.register_end(key, time + window)
            if until is not None and timed and state.branches:
                value = None
                moved = advance(state, until)
                if moved is not None:
                    self._deliver_moved(moved, until)
        except Exception as error:
            raise self.failure_for(error, value) from error
        matcher.started = False
        if state.is_empty:
            if was_there:
                del data[key]
                self.branches.dirty.add(key)
            return None
        if not was_there:
            data[key] = state
            self.branches.dirty.add(key)
        elif state.branches is not branches or len(branches) != size or len(state.complete) != waiting:
            self.branches.dirty.add(key)
        return state

    def register_end(self, key: Any, time: int) -> None:
        """Register a timer for the end of a window."""
        raise NotImplementedError

    def deadline(self, state: KeyState) -> int | None:
        """Return when the window of the earliest branch ends; branches that started by time 0 have no timer in Flink."""
        window = self.matcher.window
        if window:
            for branch in state.branches:
                if branch[3] > 0:
                    return branch[3] + window
        return None

    def sorted_events(self, events: list[Event]) -> list[Event]:
        """Sort events by time, then by the comparator, then by arrival."""
        if self._sort_key is not None:
            events.sort(key=self._sort_key)
        events.sort(key=_TIME)
        return events

    # -- results --------------------------------------------------------------------------------------------------

    def _deliver_moved(self, moved: tuple[list[Match], list[tuple[Match, int]]], time: int) -> None:
        matches, timed_out = moved
        if matches:
            self._deliver(matches, time)
        if timed_out and self._on_timeout is not None:
            context = self.match_context
            for match, end in timed_out:
                context.time = end
                self._extend(self._on_timeout(match, context), end)

    def _deliver(self, matches: list[Match], time: int) -> None:
        context, on_match = self.match_context, self._on_match
        context.time = time
        for match in matches:
            self._extend(on_match(match, context), time)

    def _extend(self, given: Any, time: int) -> None:
        if given is None:
            return
        results = self._results
        size = len(results)
        results.extend(given)
        if len(results) != size:
            self._times.extend([time] * (len(results) - size))

    def emit_results(self) -> None:
        """Emit the results of functions; in processing time without timestamps, like Flink."""
        stamped = self.spec.event_time
        if self._results:
            results, times = self._results, self._times
            self._results, self._times = [], []
            emit_tagged(self.output, results, times if stamped else None)
        sides = self.match_context.sides
        if sides:
            self.match_context.sides = {}
            for tag_id, (values, times) in sides.items():
                self.output.emit_side(tag_id, values, times if stamped else None)


_TIME = itemgetter(0)


def _sort_key(comparator: Any) -> Callable[[Event], Any] | None:
    if comparator is None:
        return None
    compare = getattr(comparator, "compare", comparator)
    if not callable(compare):
        raise TypeMismatchError("A comparator is a callable of two events, or has compare(a, b)", seen=comparator)
    return cmp_to_key(lambda a, b: compare(a[1], b[1]))
