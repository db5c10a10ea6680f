"""The instructions of the protocol: one for each effect, as data.

The workflow and the driver yield them; an interpreter performs them and sends the answer back. Between any two of them a
process may die or be suspended; the crash model stops at each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from headrace.checkpoint.model import Committable, FileEntry, Manifest, Record


@dataclass(frozen=True)
class Reach:
    """A named fault point. Answer: None."""

    point: str


@dataclass(frozen=True)
class Settle:
    """Make everything visible in the store durable. Answer: None."""


@dataclass(frozen=True)
class ListNames:
    """Answer: the names in a folder of the store."""

    folder: str


@dataclass(frozen=True)
class Read:
    """Answer: the record of this name."""

    name: str


@dataclass(frozen=True)
class Create:
    """Create if absent. Answer: whether it was created. `inside` is the fault point halfway through the write."""

    name: str
    record: Record
    inside: str | None = None


@dataclass(frozen=True)
class Delete:
    """Delete a record or a state file. Answer: None."""

    name: str


@dataclass(frozen=True)
class RemoveAll:
    """Delete the whole store. Answer: None."""


@dataclass(frozen=True)
class CheckFile:
    """Answer: what is wrong with a state file, None if nothing is."""

    file: FileEntry


@dataclass(frozen=True)
class Commit:
    """Commit a handle. Answer: None."""

    committable: Committable


@dataclass(frozen=True)
class Abort:
    """Abort a handle. Answer: whether it is not visible and never will be."""

    committable: Committable


@dataclass(frozen=True)
class ListStaged:
    """Answer: all handles that are prepared and neither committed nor aborted."""


@dataclass(frozen=True)
class Untouched:
    """Answer: whether certainly nothing of the epoch has been committed."""

    epoch: int


@dataclass(frozen=True)
class Publish:
    """Announce that the checkpoint is complete. Answer: None."""

    manifest: Manifest


@dataclass(frozen=True)
class Pause:
    """Wait before a retry. Answer: None."""

    seconds: float


Instruction: TypeAlias = (
    Reach
    | Settle
    | ListNames
    | Read
    | Create
    | Delete
    | RemoveAll
    | CheckFile
    | Commit
    | Abort
    | ListStaged
    | Untouched
    | Publish
    | Pause
)
