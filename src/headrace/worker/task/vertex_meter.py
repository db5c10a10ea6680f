"""Measure one subtask of a vertex: records and own time of each operator of the chain, hot key groups. Once per epoch.

An operator's own time is its total time minus that of its consumers: the vertex measures the total of the chain, each output
the time of its consumers. So a run of records costs a few clock readings, and a record costs nothing.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from headrace.common.watermark_strategy import MIN_TIMESTAMP
from headrace.graph.job_graph import JobVertex
from headrace.metrics.values import Path, Spread, Value
from headrace.operators.base import Operator
from headrace.operators.source import SourceOperator
from headrace.state.key_groups import key_group
from headrace.worker.exchange.writers import EdgeWriter
from headrace.worker.messages import HotKeyGroup, OperatorReport, VertexMeasures

_KEYS_PER_RUN = 16
_KEYS_PER_EPOCH = 256
_FEWEST_KEYS = 32


class VertexMeter:
    """The measurements of one VertexTask."""

    def __init__(self, vertex: JobVertex, operators: dict[int, Operator]) -> None:
        self._vertex = vertex
        self._life = random.getrandbits(62)
        self._operators = operators
        self._feeds = {edge.target: edge for edge in vertex.chained_edges}
        self._writers: dict[int, list[EdgeWriter]] = {}
        self._left: set[tuple[int, str | None]] = set()
        self._beside: dict[int, float] = {}
        self._keys: list[Any] = []
        self._sent: dict[tuple[int, Path], Value | int] = {}

    def add_writer(self, node: int, tag: str | None, writer: EdgeWriter) -> None:
        """Count an edge that leaves the vertex at this operator."""
        self._writers.setdefault(node, []).append(writer)
        self._left.add((node, tag))

    def begin_epoch(self) -> None:
        for operator in self._operators.values():
            operator.output.begin_epoch()
        self._beside = {}
        self._keys = []

    def sample(self, keys: list[Any]) -> None:
        """Sample a few keys of a run."""
        if len(self._keys) < _KEYS_PER_EPOCH:
            self._keys += keys[:: len(keys) // _KEYS_PER_RUN + 1]

    def timed(self, node: int, call: Callable[[], None]) -> None:
        """Call a method of an operator whose time no output measures."""
        began = time.perf_counter()
        call()
        self._beside[node] = self._beside.get(node, 0.0) + time.perf_counter() - began

    def measures(self, records_in: int, busy: float) -> VertexMeasures:
        """Return the measurements of the epoch, except for input frames. `busy` is the time of the whole vertex."""
        buffers = [target for writers in self._writers.values() for writer in writers for target in writer.targets]
        head = self._operators[self._vertex.head.id]
        source = head if isinstance(head, SourceOperator) else None
        return VertexMeasures(
            life=self._life,
            bytes_out=sum(buffer.sent_bytes for buffer in buffers),
            frames_out=sum(buffer.sent_frames for buffer in buffers),
            held_back=source is not None and source.held_back,
            waited_seconds=0.0 if source is None else source.waited,
            event_timestamp=None if source is None else source.event_timestamp,
            hot_key_group=self._hot_key_group(),
            operators=tuple(self._report(node.id, records_in, busy) for node in self._vertex.nodes),
        )

    def _hot_key_group(self) -> HotKeyGroup | None:
        """Return the hottest key group of the sample; None if the sample is too small."""
        if len(self._keys) < _FEWEST_KEYS:
            return None
        groups: Counter[int] = Counter()
        for key, times in Counter(self._keys).items():
            groups[key_group(key, self._vertex.max_parallelism)] += times
        group, times = groups.most_common(1)[0]
        return HotKeyGroup(group, times / len(self._keys))

    def records_out(self) -> int:
        """Return the number of records that left the vertex, counted once per output with an edge."""
        return sum(self._emitted(node, tag) for node, tag in self._left)

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
        """Return the values that changed since the last report."""
        changed = {}
        for path, value in values.items():
            mark = value.sketch.count if isinstance(value, Spread) else value  # comparing sketches would be slow
            if self._sent.get((node, path)) != mark:
                self._sent[node, path] = mark
                changed[path] = value
        return changed

    def _emitted(self, node: int, tag: str | None) -> int:
        output = self._operators[node].output
        return output.records if tag is None else output.side_records.get(tag, 0)
