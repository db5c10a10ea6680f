"""A source that plays a list of events: records with or without timestamps, watermarks, idleness, clock changes, failures.

It is replayable: the position is the index of the next event. `observed` records a stream as such events.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headrace.connectors.base.source import Source
from headrace.connectors.base.split_enumerator import Split
from headrace.connectors.base.split_reader import EMPTY, Batch, ReaderContext, SplitReader
from headrace.datastream import DataStream
from headrace.errors import InvalidProgramError
from headrace.graph.specs import OperatorSpec
from headrace.graph.transformations import TransformationKind
from headrace.operators.base import Operator
from headrace.operators.output import Timestamps, Values


@dataclass(frozen=True)
class Event:
    """Base class of the entries of an event list.

    >>> isinstance(Record("a"), Event)
    True
    """


@dataclass(frozen=True)
class Record(Event):
    """A record with or without a timestamp.

    >>> Record("a", 1000), Record("b").timestamp
    (Record(value='a', timestamp=1000), None)
    """

    value: Any
    timestamp: int | None = None


@dataclass(frozen=True)
class WatermarkTo(Event):
    """Event time reaches `timestamp`.

    >>> WatermarkTo(1000)
    WatermarkTo(timestamp=1000)
    """

    timestamp: int


@dataclass(frozen=True)
class Idle(Event):
    """The source becomes idle or, with False, active.

    >>> Idle(), Idle(False)
    (Idle(idle=True), Idle(idle=False))
    """

    idle: bool = True


@dataclass(frozen=True)
class AdvanceClock(Event):
    """Processing time reaches `milliseconds`; needs the configuration `headrace.testing.clock`.

    >>> AdvanceClock(60_000)
    AdvanceClock(milliseconds=60000)
    """

    milliseconds: int


@dataclass(frozen=True)
class EndEpoch(Event):
    """The epoch ends here.

    >>> event_source([Record("a"), EndEpoch(), Record("b")]).bounded
    True
    """


@dataclass(frozen=True)
class Fail(Event):
    """The source fails, but only in the job's first attempts.

    >>> Fail("no connection", attempts=2)
    Fail(message='no connection', attempts=2)
    """

    message: str = "failure from the event list"
    attempts: int = 1


@dataclass(frozen=True)
class EventListSource(Source):
    """The source behind `event_source`."""

    lists: tuple[tuple[Event, ...], ...]
    bounded: bool = True

    def splits(self, parallelism: int) -> list[Split]:
        """Return a split for each list; list i goes to subtask i modulo the parallelism."""
        return [Split(str(i), events) for i, events in enumerate(self.lists)]

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        """Return a reader that continues from `position`."""
        return _Player(split.payload, position or 0, context.attempt, self.bounded)


def event_source(*lists: Sequence[Event], bounded: bool = True) -> EventListSource:
    """Return a source with one split for each list of events, for `env.from_source`.

    >>> event_source([Record("a", 1), WatermarkTo(5)]).splits(1)[0].id
    '0'
    """
    for events in lists:
        for event in events:
            if not isinstance(event, Event):
                raise InvalidProgramError(
                    "An event list must contain only events", seen=event, expected="Record, WatermarkTo, ..."
                )
    return EventListSource(tuple(tuple(events) for events in lists), bounded)


class _Player(SplitReader):
    """Plays a list: runs of records as batches, every other event as a separate batch."""

    def __init__(self, events: tuple[Event, ...], position: int, attempt: int, bounded: bool) -> None:
        self._events = events
        self._next = position
        self._attempt = attempt
        self._bounded = bounded
        self.finished = bounded and position >= len(events)

    def read(self, limit: int, now: int) -> Batch:
        if self._next >= len(self._events):
            self.finished = self._bounded
            return EMPTY
        event = self._events[self._next]
        if isinstance(event, Record):
            return self._records(limit)
        if isinstance(event, Fail) and self._attempt < event.attempts:
            raise RuntimeError(event.message)
        self._next += 1
        match event:
            case WatermarkTo(timestamp):
                return Batch([], watermark=timestamp, more=True)
            case Idle(idle):
                return Batch([], idle=idle, more=True)
            case AdvanceClock(milliseconds):
                return Batch([], clock=milliseconds, more=True)
            case EndEpoch():
                return Batch([], pause=True)
            case _:
                return Batch([], more=True)

    def _records(self, limit: int) -> Batch:
        run: list[Record] = []
        while self._next < len(self._events) and len(run) < limit:
            event = self._events[self._next]
            if not isinstance(event, Record):
                break
            run.append(event)
            self._next += 1
        times = [r.timestamp for r in run]
        return Batch([r.value for r in run], None if all(t is None for t in times) else times)

    def position(self) -> int:
        return self._next


def observe(stream: DataStream) -> DataStream:
    """Return a stream of the events of `stream`: `Record`, `WatermarkTo` and `Idle`.

    >>> from headrace.common import Configuration
    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> configuration = Configuration().set_string("headrace.executor", "local")
    >>> env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
    >>> list(observe(env.from_collection([1, 2])).execute_and_collect())
    [Record(value=1, timestamp=None), Record(value=2, timestamp=None), WatermarkTo(timestamp=9223372036854775807)]
    """
    env = stream.get_execution_environment()
    operator = env.registry.add(
        TransformationKind.OPERATOR, (stream.transformation_id,), spec=Observe(), name=Observe.label
    )
    return DataStream(env, operator)


@dataclass(frozen=True)
class Observe(OperatorSpec):
    """The operator behind `observe`."""

    label = "Observe"

    def create_operator(self) -> Operator:
        """Return the running operator."""
        return _ObservingOperator()


class _ObservingOperator(Operator):
    """Emits everything that arrives as records without timestamps."""

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        stamps = timestamps if timestamps is not None else [None] * len(values)
        self.output.emit([Record(v, t) for v, t in zip(values, stamps)], None)

    def process_watermark(self, timestamp: int) -> None:
        self.output.emit([WatermarkTo(timestamp)], None)
        super().process_watermark(timestamp)

    def process_idle(self, idle: bool) -> None:
        self.output.emit([Idle(idle)], None)
        super().process_idle(idle)
