"""The output side of an edge: one writer per partitioner, choosing the target subtask of every record.

Watermarks, idleness and the end go to every target that the edge connects this subtask with. Called by operators through
`Output`; each writer gives its frames to the task's `send`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from headrace.errors import HeadraceError, InvalidProgramError
from headrace.graph import partitioners
from headrace.operators.base import Operator
from headrace.operators.output import LatencyMarker, Timestamps, Values
from headrace.state.key_groups import TargetCache
from headrace.state.opaque_key import filed_keys
from headrace.types.codecs import Codec
from headrace.worker.exchange.buffers import Send, TargetBuffer
from headrace.worker.exchange.frames import CLOCK, END, IDLE, MARKER, RECORDS, WATERMARK


class EdgeWriter:
    """Base: marks go to all targets, records where `route` says."""

    choosers: tuple[Any, ...] = ()
    """The user's key selector and partitioner objects: they are opened and closed with the operators."""

    def __init__(self, owner: Operator, targets: list[TargetBuffer]) -> None:
        self.owner = owner
        self.targets = targets
        self._marked = owner.context.task.subtask

    def begin_epoch(self, epoch: int, attempt: int, send: Send) -> None:
        """Makes the buffers ready for an epoch."""
        for target in self.targets:
            target.begin_epoch(attempt, send)

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Routes a run of records."""
        try:
            self.route(values, timestamps)
        except HeadraceError as error:
            raise self.owner.failure_for(error, None) from error

    def route(self, values: Values, timestamps: Timestamps) -> None:
        """Puts every record into its target's buffer. Here: all to the first target."""
        self.targets[0].add(values, timestamps, None)

    def process_watermark(self, timestamp: int) -> None:
        """Broadcasts a watermark."""
        self._mark((WATERMARK, timestamp))

    def process_idle(self, idle: bool) -> None:
        """Broadcasts idleness."""
        self._mark((IDLE, idle))

    def process_clock(self, now: int) -> None:
        """Broadcasts a move of an injected clock."""
        self._mark((CLOCK, now))

    def process_marker(self, marker: LatencyMarker) -> None:
        """Sends a latency marker to one target, the next one in turn: they are samples."""
        self._marked = (self._marked + 1) % len(self.targets)
        self.targets[self._marked].mark((MARKER, marker))

    def end(self) -> None:
        """Broadcasts the end of the stream."""
        self._mark((END,))

    def _mark(self, item: tuple[Any, ...]) -> None:
        try:
            for target in self.targets:
                target.mark(item)
        except HeadraceError as error:  # a mark closes the run before it: a value may not have its type
            raise self.owner.failure_for(error, None) from error

    def flush(self) -> None:
        """Sends what is buffered."""
        try:
            for target in self.targets:
                target.flush()
        except HeadraceError as error:
            raise self.owner.failure_for(error, None) from error


class LocalWriter(EdgeWriter):
    """A forward edge inside a task: items stay Python objects and wait for the next vertex of the task."""

    def __init__(self, owner: Operator, codec: Codec) -> None:
        super().__init__(owner, [])
        self.items: list[tuple[Any, ...]] = []
        self._coerce = codec.coerce

    def begin_epoch(self, epoch: int, attempt: int, send: Send) -> None:
        """Forgets the last epoch."""
        self.items = []

    def route(self, values: Values, timestamps: Timestamps) -> None:
        """Keeps the run."""
        self.items.append((RECORDS, self._coerce(values), timestamps, None))

    def process_watermark(self, timestamp: int) -> None:
        """Keeps the watermark."""
        self.items.append((WATERMARK, timestamp))

    def process_idle(self, idle: bool) -> None:
        """Keeps the idleness."""
        self.items.append((IDLE, idle))

    def process_clock(self, now: int) -> None:
        """Keeps the move of an injected clock."""
        self.items.append((CLOCK, now))

    def process_marker(self, marker: LatencyMarker) -> None:
        """Keeps the marker."""
        self.items.append((MARKER, marker))

    def end(self) -> None:
        """Keeps the end."""
        self.items.append((END,))


class RoundRobinWriter(EdgeWriter):
    """Rebalance and rescale: the targets in turn."""

    def __init__(self, owner: Operator, targets: list[TargetBuffer]) -> None:
        super().__init__(owner, targets)
        self._next: int | None = None

    def begin_epoch(self, epoch: int, attempt: int, send: Send) -> None:
        """A new writer starts at a target that depends on epoch and subtask, so that small epochs spread too."""
        super().begin_epoch(epoch, attempt, send)
        if self._next is None:
            self._next = (epoch + self.owner.context.task.subtask) % len(self.targets)

    def route(self, values: Values, timestamps: Timestamps) -> None:
        """Every n-th record to each target."""
        n = len(self.targets)
        first = self._next or 0
        for i in range(min(n, len(values))):
            run = values[i::n]
            self.targets[(first + i) % n].add(run, None if timestamps is None else timestamps[i::n], None)
        self._next = (first + len(values)) % n


class BroadcastWriter(EdgeWriter):
    """Every record to every target."""

    def route(self, values: Values, timestamps: Timestamps) -> None:
        """Copies the run."""
        for target in self.targets:
            target.add(values, timestamps, None)


class _SplittingWriter(EdgeWriter):
    """Base of writers that decide per record."""

    def split(self, chosen: list[int], values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Deals the records out to the buffers `chosen` for them."""
        n = len(self.targets)
        dealt_keys: list[list[Any]] | None = None
        if keys is None:
            runs = _dealt(chosen, values, n)
        else:
            runs, dealt_keys = _dealt_pairs(chosen, values, keys, n)
        stamps = _dealt(chosen, timestamps, n) if timestamps is not None else None
        for i, run in enumerate(runs):
            if run:
                self.targets[i].add(run, stamps[i] if stamps else None, dealt_keys[i] if dealt_keys else None)


def _dealt(chosen: list[int], items: list[Any], n: int) -> list[list[Any]]:
    runs: list[list[Any]] = [[] for _ in range(n)]
    add = [run.append for run in runs]
    for target, item in zip(chosen, items):
        add[target](item)
    return runs


def _dealt_pairs(chosen: list[int], values: Values, keys: list[Any], n: int) -> tuple[list[list[Any]], list[list[Any]]]:
    """Values and keys in one pass: a sixth faster than two."""
    runs: list[Values] = [[] for _ in range(n)]
    dealt: list[list[Any]] = [[] for _ in range(n)]
    add = [(run.append, part.append) for run, part in zip(runs, dealt)]
    for target, value, key in zip(chosen, values, keys):
        add_value, add_key = add[target]
        add_value(value)
        add_key(key)
    return runs, dealt


def _objects_behind(*calls: Any) -> tuple[Any, ...]:
    """The objects with a life cycle behind bound methods `get_key` and `partition`, each once."""
    bound = [call for call in calls if getattr(call, "__name__", "") in ("get_key", "partition")]
    objects = {id(call.__self__): call.__self__ for call in bound if hasattr(call, "__self__")}
    return tuple(o for o in objects.values() if hasattr(o, "open") and hasattr(o, "close"))


def _taken_keys(owner: Operator, selector: Any, values: Values) -> list[Any]:
    """The keys of records."""
    records: Iterator[Any] = iter(values)
    try:
        return [selector(v) for v in records]
    except Exception as error:
        raise owner.failure(error, values, records) from error


class KeyGroupWriter(_SplittingWriter):
    """By key group; the key travels with the record, so that it is computed once."""

    def __init__(self, owner: Operator, targets: list[TargetBuffer], selector: Any, max_parallelism: int) -> None:
        super().__init__(owner, targets)
        self._selector = selector
        self.choosers = _objects_behind(selector)
        self._target_of = TargetCache(max_parallelism, len(targets)).__getitem__

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Routes a run of records; those whose keys the operator has taken already come with them."""
        if keys is None:
            super().process_batch(values, timestamps, None)
            return
        try:
            self._route(values, timestamps, keys)
        except HeadraceError as error:
            raise self.owner.failure_for(error, None) from error

    def route(self, values: Values, timestamps: Timestamps) -> None:
        """Computes keys, then deals the records out."""
        self._route(values, timestamps, _taken_keys(self.owner, self._selector, values))

    def _route(self, values: Values, timestamps: Timestamps, keys: list[Any]) -> None:
        try:
            chosen = list(map(self._target_of, keys))
        except TypeError:
            keys = filed_keys(keys)
            chosen = list(map(self._target_of, keys))
        if len(self.targets) == 1:
            self.targets[0].add(values, timestamps, keys)
        else:
            self.split(chosen, values, timestamps, keys)


class CustomWriter(_SplittingWriter):
    """The user's partition function decides."""

    def __init__(self, owner: Operator, targets: list[TargetBuffer], partitioner: partitioners.Custom) -> None:
        super().__init__(owner, targets)
        self._partition = partitioner.partition
        self._selector = partitioner.selector
        self.choosers = _objects_behind(partitioner.partition, partitioner.selector)

    def route(self, values: Values, timestamps: Timestamps) -> None:
        """Asks the user's function for every record."""
        n = len(self.targets)
        partition, select = self._partition, self._selector
        records: Iterator[Any] = iter(values)
        try:
            chosen = [partition(select(v), n) for v in records]
        except Exception as error:
            raise self.owner.failure(error, values, records) from error
        for value, target in zip(values, chosen):
            if not isinstance(target, int) or not 0 <= target < n:
                raise InvalidProgramError(
                    "A custom partitioner returned a subtask that does not exist",
                    seen=f"{target!r} for record {value!r:.200}",
                    expected=f"an int from 0 to {n - 1}",
                )
        self.split(chosen, values, timestamps, None)


class ShuffleWriter(_SplittingWriter):
    """A random target, seeded by edge, subtask and epoch: a replay agrees."""

    def __init__(self, owner: Operator, targets: list[TargetBuffer], edge: int) -> None:
        super().__init__(owner, targets)
        self._edge = edge
        self._random = random.Random(0)

    def begin_epoch(self, epoch: int, attempt: int, send: Send) -> None:
        """Seeds the choice."""
        super().begin_epoch(epoch, attempt, send)
        self._random.seed(f"{self._edge}/{self.owner.context.task.subtask}/{epoch}")

    def route(self, values: Values, timestamps: Timestamps) -> None:
        """Chooses per record."""
        self.split(self._random.choices(range(len(self.targets)), k=len(values)), values, timestamps, None)


def create_writer(
    partitioner: partitioners.Partitioner,
    owner: Operator,
    targets: list[TargetBuffer],
    edge: int,
    max_parallelism: int,
) -> EdgeWriter:
    """The writer for a partitioner; `targets` are the subtasks that this subtask is connected with."""
    match partitioner:
        case partitioners.KeyGroup():
            return KeyGroupWriter(owner, targets, partitioner.selector, max_parallelism)
        case partitioners.Custom():
            return CustomWriter(owner, targets, partitioner)
        case partitioners.Broadcast():
            return BroadcastWriter(owner, targets)
        case partitioners.Shuffle():
            return ShuffleWriter(owner, targets, edge)
        case partitioners.Rebalance() | partitioners.Rescale():
            return RoundRobinWriter(owner, targets)
        case _:
            return EdgeWriter(owner, targets)
