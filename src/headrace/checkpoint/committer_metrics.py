"""Metrics of the committer of one sink, with Flink's names. Written by the JobCommitter, read by reporters."""

from __future__ import annotations

from collections.abc import Mapping

from headrace.metrics.values import Count, GaugeValue, Path, Value


class CommitCounts:
    """Counts since the driver took the job over: a committer survives restarts of the job.

    >>> counts = CommitCounts()
    >>> counts.prepared({"a": 1, "b": 2})
    >>> counts.committed("a", 1)
    >>> counts.committed("a", 1)
    >>> {path[0]: value[0] for path, value in counts.values().items() if value[0]}
    {'totalCommittables': 3, 'successfulCommittables': 1, 'alreadyCommittedCommittables': 1, 'pendingCommittables': 2}
    """

    def __init__(self) -> None:
        self._total = self._successful = self._already = self._failed = self._retried = 0
        self._pending: dict[str, int] = {}
        self._done: set[str] = set()

    def prepared(self, sizes: Mapping[str, int]) -> None:
        """Count handles, with their numbers of committables, that a checkpoint will commit; perhaps not for the first time."""
        self._total += sum(size for handle, size in sizes.items() if handle not in self._pending)
        self._pending = {**self._pending, **sizes}
        self._done = set()

    def committed(self, handle: str, size: int) -> None:
        """Count a committed handle; one of an earlier driver was not prepared here."""
        if handle in self._done:
            self._already += size
            return
        if self._pending.pop(handle, None) is None:
            self._total += size
        self._successful += size
        self._done.add(handle)

    def put_off(self, size: int) -> None:
        """Count a handle whose commit will be retried."""
        self._retried += size

    def refused(self, handle: str, size: int) -> None:
        """Count a handle that can never be committed."""
        self._pending.pop(handle, None)
        self._failed += size

    def values(self) -> dict[Path, Value]:
        """Return all metrics."""
        return {
            ("totalCommittables",): Count(self._total),
            ("successfulCommittables",): Count(self._successful),
            ("alreadyCommittedCommittables",): Count(self._already),
            ("failedCommittables",): Count(self._failed),
            ("retriedCommittables",): Count(self._retried),
            ("pendingCommittables",): GaugeValue(sum(self._pending.copy().values())),
        }
