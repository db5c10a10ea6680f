"""What a file format is: how the files of a source become records. Formats are in `headrace.formats` and in `text_file`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from headrace.connectors.base.split_reader import SplitReader
from headrace.errors import BadRecordError, HeadraceError, reason_of
from headrace.types.typeinfo import TypeInformation


@dataclass(frozen=True)
class FileRange:
    """A part of a file in the format's own unit (bytes, row groups); `end` None: to the end of the file."""

    path: str
    start: int = 0
    end: int | None = None


class FileFormat(ABC):
    """How files become records. A definition: picklable."""

    produced_type: TypeInformation | None = None
    batch_records: int = 4096
    """How many records a reader is asked for at once."""
    can_set_aside: bool = False
    """Whether single records that cannot be read can be skipped."""
    sets_aside: bool = False
    """Whether such records are dead letters; otherwise they fail the job."""

    def cuts(self, path: str, parts: int) -> list[int]:
        """Return where to cut a file for up to `parts` readers, from 0 to the size; [] if it cannot be cut."""
        return []

    @abstractmethod
    def open(self, part: FileRange, position: Any) -> SplitReader:
        """Return a reader of `part` that starts at `position` (None: at the beginning)."""


def unreadable(path: str, error: Exception, where: str = "") -> BadRecordError:
    """Return the error for a file that does not have its format."""
    return BadRecordError(
        f"The file {path!r} cannot be read{where}: {reason_of(error)}",
        seen=error.seen if isinstance(error, HeadraceError) else None,
        expected=error.expected if isinstance(error, HeadraceError) else None,
        remedy=error.remedy if isinstance(error, HeadraceError) else None,
    )
