"""Settings that travel to the workers, as plain data. Light: couriers import this module."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["BackendSettings", "LatencySettings", "TimeLimit"]

DEFAULT_MEMORY = 128 << 20


class BackendSettings(NamedTuple):
    """What the job says about its keyed state."""

    on_disk: bool = False
    memory: int = DEFAULT_MEMORY
    """Bytes of memory for the state of one task."""
    directories: tuple[str, ...] = ()
    """Local directories to choose from; empty: the slot's folder."""


class LatencySettings(NamedTuple):
    """How latency is measured: never if the interval is 0; for each `single` operator, by source `operator`, or `subtask`."""

    interval_ms: int = 0
    granularity: str = "operator"


class TimeLimit(NamedTuple):
    """How many seconds a task may take in an epoch, and the option that says so."""

    seconds: float
    option: str
