"""Source: a frozen definition that is pickled into the job.

The driver makes a `SplitEnumerator` from it, which finds the splits; tasks make a `SplitReader` for each of their splits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from headrace.connectors.base.split_enumerator import FixedSplits, Split, SplitEnumerator
from headrace.connectors.base.split_reader import ReaderContext, SplitReader
from headrace.types.typeinfo import TypeInformation


class Source(ABC):
    """What is to be read. Holds no clients and no caches."""

    @property
    def bounded(self) -> bool:
        """Whether the source ends."""
        return True

    @property
    def may_finish(self) -> bool:
        """Whether an unbounded source can end nevertheless, when all its readers are finished (a socket is closed)."""
        return False

    @property
    def batch_records(self) -> int:
        """How many records a reader is asked for at once."""
        return 4096

    @property
    def non_parallel(self) -> bool:
        """Whether the source can only run with parallelism 1."""
        return False

    @property
    def produced_type(self) -> TypeInformation | None:
        """The type that the records already have: they need no conversion."""
        return None

    @property
    def dead_letters(self) -> str | None:
        """The tag of the side output for records that cannot be read; None: such a record fails the job."""
        return None

    def splits(self, parallelism: int) -> list[Split]:
        """Return the splits of a source whose definition alone determines them; other sources have an `enumerator`."""
        raise NotImplementedError(f"{type(self).__name__} has neither splits nor an enumerator")

    def enumerator(self) -> SplitEnumerator:
        """Return a new enumerator, for the driver."""
        return FixedSplits(self.splits)

    def owner(self, split: Split, parallelism: int) -> int | None:
        """Return the subtask that a split belongs to; None: the one that has the fewest."""
        return None

    def functions(self) -> Sequence[Any]:
        """Return the program's functions inside the source, which may have state of their own."""
        return ()

    @abstractmethod
    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        """Return a reader of `split` that starts at `position` (None: at the beginning)."""
