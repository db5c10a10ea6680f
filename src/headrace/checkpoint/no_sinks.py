"""A committer and publisher for jobs without two-phase sinks: nothing is ever prepared, nobody is told.

Used where a job's sinks are all idempotent or keep no promise, and by examples.
"""

from __future__ import annotations

from collections.abc import Sequence

from headrace.checkpoint.errors import CommitRefusedError
from headrace.checkpoint.model import Committable, Manifest

__all__ = ["NoSinks"]


class NoSinks:
    """Satisfies `Committer` and `Publisher`.

    >>> NoSinks().staged(), NoSinks().untouched(3)
    ((), True)
    """

    def commit(self, committable: Committable) -> None:
        raise CommitRefusedError("The job has no sink that commits", seen=committable.sink)

    def abort(self, committable: Committable) -> bool:
        return True

    def staged(self) -> Sequence[Committable]:
        return ()

    def untouched(self, epoch: int) -> bool:
        return True

    def publish(self, manifest: Manifest) -> None:
        return None
