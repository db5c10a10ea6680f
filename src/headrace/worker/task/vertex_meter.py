"""Measures one subtask of a vertex: records and own time of each operator of the chain, hot key groups. Once per epoch.

The time of an operator is what its consumers do not account for: the vertex knows how long all of it took, each output how
long its consumers took. So a run of records costs a few readings of the clock, and a record nothing.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from headrace.common.watermark_strategy import MIN_TIMESTAMP
from headrace.graph.job_graph import JobVertex
from headrace.metrics.values import Path, Spread, Value
from headrace.operators.base import Operator
from headrace.operators.source import SourceOperator
from headrace.state.key_groups import key_group
from headrace.worker.exchange.routing import EdgeWriter

__all__ = ["HotKeyGroup", "OperatorReport", "VertexMeter"]

_KEYS_PER_RUN = 16
_KEYS_PER_EPOCH = 256
_FEWEST_KEYS = 32


class OperatorReport(NamedTuple):
    """What an operator of a subtask did in the epoch.

    `metrics` are those that have changed, with their values since the subtask was built: an epoch that does not count
    is followed by a subtask that is built anew, so the driver misses none.
    """

    operator_id: str
    records_in: int
    records_out: int
    seconds: float
    """Its own time, without that of operators after it and of sending."""
    sending_seconds: float
    """Time to encode and deal out what leaves the task here."""
    input_watermark: int
    output_watermark: int
    metrics: dict[Path, Value]


class HotKeyGroup(NamedTuple):
    """The key group that most of the sampled keys of an epoch are in."""

    key_group: int
    share: float


class VertexMeter:
    """Belongs to one VertexTask."""

    def __init__(self, vertex: JobVertex, operators: dict[int, Operator]) -> None:
        self._vertex = vertex
        self._operators = operators
        self._feeds = {edge.target: edge for edge in vertex.chained_edges}
        self._writers: dict[int, list[EdgeWriter]] = {}
        self._left: set[tuple[int, str | None]] = set()
        self._beside: dict[int, float] = {}
        self._keys: list[Any] = []
        self._sent: dict[tuple[int, Path], Value | int] = {}

    def add_writer(self, node: int, tag: str | None, writer: EdgeWriter) -> None:
        """An edge leaves the vertex at this operator."""
        self._writers.setdefault(node, []).append(writer)
        self._left.add((node, tag))

    def begin_epoch(self) -> None:
        """Counts from zero again."""
        for operator in self._operators.values():
            operator.output.begin_epoch()
        self._beside = {}
        self._keys = []

    def sample(self, keys: list[Any]) -> None:
        """Looks at a few keys of a run."""
        if len(self._keys) < _KEYS_PER_EPOCH:
            self._keys += keys[:: len(keys) // _KEYS_PER_RUN + 1]

    def timed(self, node: int, call: Callable[[], None]) -> None:
        """Calls something of an operator that no consumer's time contains."""
        began = time.perf_counter()
        call()
        self._beside[node] = self._beside.get(node, 0.0) + time.perf_counter() - began

    def hot_key_group(self) -> HotKeyGroup | None:
        """The hottest of the sampled keys' groups; None if too few keys were seen to say."""
        if len(self._keys) < _FEWEST_KEYS:
            return None
        groups: Counter[int] = Counter()
        for key, times in Counter(self._keys).items():
            groups[key_group(key, self._vertex.max_parallelism)] += times
        group, times = groups.most_common(1)[0]
        return HotKeyGroup(group, times / len(self._keys))

    def records_out(self) -> int:
        """Records that left the vertex, each once for every output that has an edge."""
        return sum(self._emitted(node, tag) for node, tag in self._left)

    def reports(self, records_in: int, busy: float) -> tuple[OperatorReport, ...]:
        """All operators of the chain; `busy` is the time of the whole vertex."""
        return tuple(self._report(node.id, records_in, busy) for node in self._vertex.nodes)

    def _report(self, node: int, records_in: int, busy: float) -> OperatorReport:
        operator = self._operators[node]
        output = operator.output
        feed = self._feeds.get(node)
        if feed is None:
            others = sum(seconds for other, seconds in self._beside.items() if other != node)
            spent, taken = busy - others, records_in
        else:
            spent = self._operators[feed.source].output.spent.get(id(operator), 0.0) + self._beside.get(node, 0.0)
            taken = self._emitted(feed.source, feed.tag)
        source = isinstance(operator, SourceOperator)
        return OperatorReport(
            operator_id=operator.context.operator_id,
            records_in=taken,
            records_out=output.emitted,
            seconds=max(0.0, spent - output.seconds),
            sending_seconds=sum(output.spent.get(id(writer), 0.0) for writer in self._writers.get(node, ())),
            input_watermark=MIN_TIMESTAMP if source else operator.watermark,
            output_watermark=max(output.watermark, operator.watermark) if source else output.watermark,
            metrics=self._changed(node, operator.context.metrics.values()),
        )

    def _changed(self, node: int, values: dict[Path, Value]) -> dict[Path, Value]:
        """What the driver does not know yet."""
        changed = {}
        for path, value in values.items():
            mark = value.sketch.count if isinstance(value, Spread) else value  # a sketch has kilobytes
            if self._sent.get((node, path)) != mark:
                self._sent[node, path] = mark
                changed[path] = value
        return changed

    def _emitted(self, node: int, tag: str | None) -> int:
        output = self._operators[node].output
        return output.records if tag is None else output.side_records.get(tag, 0)
