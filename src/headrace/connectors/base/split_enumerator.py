"""SplitEnumerator: finds the splits of a source. Lives in the driver as long as the job does, across restarts and rescales.

1. `start` finds the splits that the job begins with. It is called at most once: a restart from the beginning reads the same
   splits, with the same offsets. A job that is restored has the splits of its checkpoint instead.
2. `discover` is called before each epoch and returns splits that the job does not know yet. If it raises, nothing is lost:
   the call after it gets the same known splits.
3. `more_splits` says whether more can follow; until it is False no subtask of a bounded source ends.
4. `notify_checkpoint_complete` tells the external system how far the job has durably come.

Enumerators may call external systems. The ledger (`headrace.driver.ledger`) keeps the splits that they find.
"""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_LOG = logging.getLogger("headrace")


@dataclass(frozen=True)
class Split:
    """A part of a source that one subtask reads. `payload` is the source's own description of it."""

    id: str
    payload: Any = None


@dataclass(frozen=True)
class SplitProgress:
    """What the job knows of the splits of one source."""

    known: frozenset[str] = frozenset()
    finished: frozenset[str] = frozenset()
    """Those that have been read to their end."""
    parallelism: int = 1


class SplitEnumerator(ABC):
    """Finds the splits of one source."""

    @property
    def more_splits(self) -> bool:
        """Whether more splits will follow, so that a subtask without any must not end yet."""
        return False

    @abstractmethod
    def start(self, parallelism: int) -> list[Split]:
        """Return the splits that the job begins with."""

    def discover(self, progress: SplitProgress) -> list[Split]:
        """Return splits that are not known yet."""
        return []

    def notify_checkpoint_complete(self, positions: dict[str, Any]) -> None:
        """Tell the external system how far the job has durably come: positions by split id.

        This only informs others, so it must not fail the job.
        """

    def close(self, kept: bool) -> None:
        """Release everything. `kept`: checkpoints stay, and another driver may continue from them."""


class FixedSplits(SplitEnumerator):
    """For sources whose definition alone determines their splits."""

    def __init__(self, splits: Callable[[int], list[Split]]) -> None:
        self._splits = splits

    def start(self, parallelism: int) -> list[Split]:
        return self._splits(parallelism)


class PeriodicEnumerator(SplitEnumerator):
    """Looks for new splits every `seconds`, never if that is None. A search that fails for a while is repeated."""

    temporary: tuple[type[Exception], ...] = (OSError,)
    """Errors after which the search is repeated at its next turn."""

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._looked_at = float("-inf")

    @abstractmethod
    def find(self, progress: SplitProgress, first: bool) -> list[Split]:
        """Return the splits that are not known. `first`: the job begins."""

    def start(self, parallelism: int) -> list[Split]:
        splits = self.find(SplitProgress(parallelism=parallelism), first=True)
        self._looked_at = self._clock()
        return splits

    def discover(self, progress: SplitProgress) -> list[Split]:
        now = self._clock()
        if self._seconds is None or now - self._looked_at < self._seconds:
            return []
        self._looked_at = now
        try:
            return self.find(progress, first=False)
        except self.temporary as error:
            _LOG.warning("headrace: the search for new splits failed and will be repeated: %s", error)
            return []
