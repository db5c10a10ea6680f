"""Flame graphs of user code: requested from any thread, sampled by the workers in the next epochs, combined here.

Each epoch's order carries `wanted`; the stacks come back with its acknowledgements.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from headrace.worker.messages import TaskAck

_SAMPLE_SECONDS = 3.0
_FRESH_SECONDS = 30.0
_ENOUGH = 200
Stack = tuple[str, ...]


def tree(stacks: dict[Stack, int]) -> dict[str, Any]:
    """Return stacks as nested `{name, value, children}`; a node's value is the number of samples in it.

    >>> tree({("Map", "f (job.py:3)"): 2, ("Map",): 1})
    {'name': 'root', 'value': 3, 'children': [{'name': 'Map', 'value': 3, 'children': [{'name': 'f (job.py:3)', 'value': 2,
    'children': []}]}]}
    """
    root: dict[str, Any] = {"name": "root", "value": sum(stacks.values()), "children": []}
    for stack, number in sorted(stacks.items()):
        node = root
        for name in stack:
            child = next((c for c in node["children"] if c["name"] == name), None)
            if child is None:
                child = {"name": name, "value": 0, "children": []}
                node["children"].append(child)
            child["value"] += number
            node = child
    return root


class _Sampling:
    """One vertex being sampled."""

    def __init__(self, until: float) -> None:
        self.until = until
        self.stacks: Counter[Stack] = Counter()
        self.ended = threading.Event()


class FlameGraphs:
    """The flame graphs of one job."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._running: dict[str, _Sampling] = {}
        self._done: dict[str, tuple[float, dict[Stack, int]]] = {}

    def wanted(self) -> frozenset[str]:
        """Return the vertices to sample in the next epoch."""
        return frozenset(self._running)

    def take(self, acks: list[TaskAck]) -> None:
        """Add the samples of an epoch, and finish the vertices that have been sampled long enough."""
        if not self._running:
            return
        with self._lock:
            for ack in acks:
                for report in ack.vertices:
                    sampling = self._running.get(report.vertex)
                    if sampling is not None:
                        sampling.stacks.update(report.measures.stacks)
            for vertex, sampling in list(self._running.items()):
                if self._now() >= sampling.until or sampling.stacks.total() >= _ENOUGH:
                    self._done[vertex] = (self._now(), dict(sampling.stacks))
                    del self._running[vertex]
                    sampling.ended.set()

    def of(self, vertex: str, timeout: float) -> dict[str, Any]:
        """Return the flame graph of a vertex. Without a recent one, sample the vertex first, for at most `timeout` seconds."""
        with self._lock:
            known = self._done.get(vertex)
            if known is not None and known[1] and self._now() - known[0] < _FRESH_SECONDS:
                return tree(known[1])
            sampling = self._running.setdefault(vertex, _Sampling(self._now() + _SAMPLE_SECONDS))
        sampling.ended.wait(timeout)
        with self._lock:
            return tree(dict(sampling.stacks))

    def close(self) -> None:
        """Release everyone who waits: the job has ended."""
        with self._lock:
            for sampling in self._running.values():
                sampling.ended.set()
            self._running = {}
