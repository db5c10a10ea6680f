"""The port to where records are kept. `headrace.checkpoint.file_store` is one; the crash model has another.

What a store must promise; the protocol needs no more:

1. `create` makes a record appear whole or not at all, under a name that was free. Of several that try, one gets True.
2. When `create` has returned True, the record survives a crash of the machine.
3. What one process has created, every other sees at once (`read`, `list`).
4. `settle` makes durable all that is visible: a record may be seen before its writer made it durable.
5. A read gives what was written or raises `DamagedRecordError`: never something else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from headrace.checkpoint.model import FileEntry, Record

__all__ = ["Store"]


class Store(Protocol):
    """Records by name, and state files that are written by others."""

    def settle(self) -> None:
        """Make durable what is visible."""

    def create(self, name: str, record: Record, inside: Callable[[], None] | None = None) -> bool:
        """Create a record if there is none of this name; False if there is one.

        `inside` is called when a part has been written. Raises `StoreError` (nothing was written) or
        `OutcomeUnknownError`.
        """

    def read(self, name: str) -> Record:
        """Give a record; raises `RecordMissingError`, `DamagedRecordError`, or `StoreError` if it cannot tell."""

    def list(self, folder: str) -> list[str]:
        """Give all names in a folder (such as ``slots/``), sorted."""

    def delete(self, name: str) -> None:
        """Delete; a name that is not there is no error."""

    def problem_of(self, file: FileEntry) -> str | None:
        """Say what is wrong with a state file; None if it is the one that was recorded."""
