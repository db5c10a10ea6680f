"""Writers that choose a target subtask for every record, and the choice of the writer for a partitioner."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from headrace.errors import HeadraceError, InvalidProgramError
from headrace.graph import partitioners
from headrace.graph.table_specs import TableKey
from headrace.operators.base import Operator
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.base import keys_of
from headrace.operators.table.batches import SMALL, numpy, pyarrow
from headrace.operators.table.key_columns import key_groups
from headrace.state.key_groups import TargetCache
from headrace.state.opaque_key import filed_keys
from headrace.types.column_run import ColumnRun, as_columns
from headrace.worker.exchange.buffers import Send, TargetBuffer
from headrace.worker.exchange.writers import BroadcastWriter, EdgeWriter, RoundRobinWriter


class _SplittingWriter(EdgeWriter):
    """Base of writers that choose a target for every record, in rows."""

    def __init__(self, owner: Operator, targets: list[TargetBuffer]) -> None:
        super().__init__(owner, targets)
        self.takes_columns = False

    def split(self, chosen: list[int], values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Add each record to the buffer `chosen` for it."""
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
    """Split values and keys in one pass, which is a sixth faster than two."""
    runs: list[Values] = [[] for _ in range(n)]
    dealt: list[list[Any]] = [[] for _ in range(n)]
    add = [(run.append, part.append) for run, part in zip(runs, dealt)]
    for target, value, key in zip(chosen, values, keys):
        add_value, add_key = add[target]
        add_value(value)
        add_key(key)
    return runs, dealt


def _objects_behind(*calls: Any) -> tuple[Any, ...]:
    """Return the objects with `open` and `close` behind bound methods `get_key` and `partition`, each once."""
    bound = [call for call in calls if getattr(call, "__name__", "") in ("get_key", "partition")]
    objects = {id(call.__self__): call.__self__ for call in bound if hasattr(call, "__self__")}
    return tuple(o for o in objects.values() if hasattr(o, "open") and hasattr(o, "close"))


class KeyGroupWriter(_SplittingWriter):
    """Partitions by key group. The key travels with the record, so that it is computed once."""

    def __init__(self, owner: Operator, targets: list[TargetBuffer], selector: Any, max_parallelism: int) -> None:
        super().__init__(owner, targets)
        self._selector = selector
        self.choosers = _objects_behind(selector)
        self.takes_columns = isinstance(selector, TableKey) and all(target.takes_columns for target in targets)
        self._max_parallelism = max_parallelism
        self._target_of = TargetCache(max_parallelism, len(targets)).__getitem__

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Route a run of records, with their keys if the operator already computed them."""
        if keys is None:
            super().process_batch(values, timestamps, None)
            return
        try:
            self._route(values, timestamps, keys)
        except HeadraceError as error:
            raise self.owner.failure_for(error, None) from error

    def route(self, values: Values, timestamps: Timestamps) -> None:
        selector = self._selector
        run = as_columns(values)
        if run is not None and timestamps is None:
            self._route_columns(run)
            return
        records: Iterator[Any] = iter(values)
        try:
            keys = [selector(v) for v in records]
        except Exception as error:
            raise self.owner.failure(error, values, records) from error
        self._route(values, timestamps, keys)

    def _route_columns(self, run: ColumnRun) -> None:
        """Send each target its rows of a run: as columns, or as rows if they are few."""
        if len(self.targets) == 1:
            self._send(0, run)
            return
        np = numpy()
        batch, n = run.columns, len(self.targets)
        groups = key_groups([batch.columns[c] for c in self._selector.columns], len(run), self._max_parallelism)
        chosen = groups * n // self._max_parallelism
        if len(run) < n * SMALL:  # sort once instead of searching for each target
            order = np.argsort(chosen, kind="stable")
            ends = np.cumsum(np.bincount(chosen, minlength=n)).tolist()
            ordered = batch.take(pyarrow().array(order))
            for i, (start, end) in enumerate(zip([0, *ends], ends)):
                self._send(i, ColumnRun(ordered.slice(start, end - start), run.codec))
            return
        for i in range(n):
            mine = chosen == i
            self._send(i, run if mine.all() else run.kept(pyarrow().array(mine)))

    def _send(self, target: int, run: ColumnRun) -> None:
        if len(run) >= SMALL:
            self.targets[target].add_columns(run, self._selector)
        elif len(run):
            rows = run.rows()
            self.targets[target].add(rows, None, keys_of(rows, self._selector.columns))

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
    """Partitions by the user's function."""

    def __init__(self, owner: Operator, targets: list[TargetBuffer], partitioner: partitioners.Custom) -> None:
        super().__init__(owner, targets)
        self._partition = partitioner.partition
        self._selector = partitioner.selector
        self.choosers = _objects_behind(partitioner.partition, partitioner.selector)

    def route(self, values: Values, timestamps: Timestamps) -> None:
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
    """Chooses random targets, seeded by edge, subtask and epoch, so that a replay makes the same choices."""

    def __init__(self, owner: Operator, targets: list[TargetBuffer], edge: int) -> None:
        super().__init__(owner, targets)
        self._edge = edge
        self._random = random.Random(0)

    def begin_epoch(self, epoch: int, attempt: int, send: Send) -> None:
        super().begin_epoch(epoch, attempt, send)
        self._random.seed(f"{self._edge}/{self.owner.context.task.subtask}/{epoch}")

    def route(self, values: Values, timestamps: Timestamps) -> None:
        self.split(self._random.choices(range(len(self.targets)), k=len(values)), values, timestamps, None)


def create_writer(
    partitioner: partitioners.Partitioner, owner: Operator, targets: list[TargetBuffer], edge: int, max_parallelism: int
) -> EdgeWriter:
    """Return the writer for a partitioner. `targets` are the subtasks that this subtask is connected with."""
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
