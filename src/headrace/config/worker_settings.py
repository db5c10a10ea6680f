"""Settings that are sent to the workers, as plain data. Keep it light: couriers import this module."""

from __future__ import annotations

from typing import NamedTuple

DEFAULT_MEMORY = 128 << 20


class BackendSettings(NamedTuple):
    """Settings of keyed state."""

    on_disk: bool = False
    memory: int = DEFAULT_MEMORY
    """Bytes of memory for the state of one task."""
    directories: tuple[str, ...] = ()
    """Local directories for the state; empty: the slot's folder."""


class LatencySettings(NamedTuple):
    """How latency is measured: not at all if the interval is 0; per `single` operator, per source `operator` or `subtask`."""

    interval_ms: int = 0
    granularity: str = "operator"


class TimeLimit(NamedTuple):
    """How many seconds a task may take in an epoch, and the option that sets the limit."""

    seconds: float
    option: str
