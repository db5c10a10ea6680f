"""Measure a worker process since its start: memory, CPU time, and time in Python's garbage collector."""

from __future__ import annotations

import gc
import os
import resource
import time
from typing import Any, NamedTuple


class ProcessFacts(NamedTuple):
    """Resource usage of a process so far."""

    resident_bytes: int = 0
    cpu_seconds: float = 0.0
    gc_seconds: float = 0.0
    gc_collections: int = 0


class _Collector:
    """Called by Python when a collection begins and ends; costs nothing in between."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.collections = 0
        self._began = 0.0

    def __call__(self, phase: str, info: dict[str, Any]) -> None:
        if phase == "start":
            self._began = time.perf_counter()
        else:
            self.seconds += time.perf_counter() - self._began
            self.collections += 1


class _Memory:
    """Ask the system at most once a second: epochs may be much shorter."""

    def __init__(self) -> None:
        self._bytes = 0
        self._asked = -1.0

    def recent(self) -> int:
        now = time.monotonic()
        if now - self._asked >= 1.0 or not self._bytes:
            self._asked, self._bytes = now, resident_bytes()
        return self._bytes


_collector = _Collector()
_memory = _Memory()


def watch_garbage_collector() -> None:
    """Start to count collections; a no-op if already started."""
    if _collector not in gc.callbacks:
        gc.callbacks.append(_collector)


def process_facts() -> ProcessFacts:
    """Return the usage of this process.

    >>> process_facts().resident_bytes > 0
    True
    """
    return ProcessFacts(_memory.recent(), time.process_time(), _collector.seconds, _collector.collections)


def resident_bytes() -> int:
    """Return the resident memory of this process."""
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # no /proc: the maximum so far, in bytes (macOS)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
