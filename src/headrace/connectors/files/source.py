"""A source of the records of files: finds files, cuts large ones, lets a format read the parts.

1. Driver: paths (files, directories, patterns) become files; a format may cut a large file into ranges.
2. Driver: with `monitor_seconds` it looks again; a file that was seen once is never read again, as in Flink.
3. Task: the format's reader reads a range and goes on exactly at a position.
"""

from __future__ import annotations

import copy
import itertools
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headrace.connectors.base.source import ReaderContext, Source, Split, SplitReader
from headrace.connectors.files.listing import list_files
from headrace.errors import BadRecordError, HeadraceError, InvalidProgramError, reason_of
from headrace.types.typeinfo import TypeInformation

_PART = re.compile(r"(.*)#\d+-\d+", re.DOTALL)


@dataclass(frozen=True)
class FileRange:
    """A part of a file in the format's own unit (bytes, row groups); `end` None: to the end of the file."""

    path: str
    start: int = 0
    end: int | None = None


class FileFormat(ABC):
    """How files become records. A definition: picklable."""

    produced_type: TypeInformation | None = None
    can_set_aside: bool = False
    """Whether a record that cannot be read can be told from the others."""
    sets_aside: bool = False
    """Whether such records are dead letters; else they fail the job."""

    def cuts(self, path: str, parts: int) -> list[int]:
        """Where a file may be cut to be read by up to `parts` readers: begins with 0, ends with the size; [] for not."""
        del path, parts
        return []

    @abstractmethod
    def open(self, part: FileRange, position: Any) -> SplitReader:
        """A reader of `part` that starts at `position` (None: at the beginning)."""


class Files(Source):
    """The records of all files under `paths`; with `monitor_seconds` it looks for new files for ever."""

    def __init__(
        self,
        paths: Sequence[str],
        file_format: FileFormat,
        monitor_seconds: float | None = None,
        cut_large_files: bool = True,
        dead_letters: str | None = None,
    ) -> None:
        """Takes paths, how their files are read, and how often to look for new ones."""
        if not paths:
            raise InvalidProgramError("A file source needs at least one path")
        self.paths = tuple(str(path) for path in paths)
        self.dead_letters = dead_letters
        self.format = file_format
        if dead_letters is not None:
            self.format = copy.copy(file_format)
            self.format.sets_aside = True
        self.produced_type = file_format.produced_type
        self.monitor_seconds = monitor_seconds
        self.bounded = monitor_seconds is None
        self.cut_large_files = cut_large_files
        self._looked_at = float("-inf")
        self._parallelism = 1

    def splits(self, parallelism: int) -> list[list[Split]]:
        self._parallelism = parallelism
        files = list_files(self.paths, may_be_missing=not self.bounded)
        self._looked_at = time.monotonic()
        splits = [split for file in files for split in self._parts(file)]
        return [splits[index::parallelism] for index in range(parallelism)]

    def discover(self, known: frozenset[str]) -> list[Split]:
        now = time.monotonic()
        if self.monitor_seconds is None or now - self._looked_at < self.monitor_seconds:
            return []
        self._looked_at = now
        seen = {_path_of(split_id) for split_id in known}
        new = [file for file in list_files(self.paths, may_be_missing=True) if file not in seen]
        return [split for file in new for split in self._parts(file)]

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        part = split.payload or FileRange(split.id)
        try:
            return self.format.open(part, position)
        except (HeadraceError, OSError):
            raise
        except Exception as error:
            raise unreadable(part.path, error) from error

    def _parts(self, path: str) -> list[Split]:
        cuts = self.format.cuts(path, self._parallelism) if self.cut_large_files and self._parallelism > 1 else []
        if len(cuts) <= 2:
            return [Split(path, FileRange(path))]
        return [Split(f"{path}#{a}-{b}", FileRange(path, a, b)) for a, b in itertools.pairwise(cuts)]


def _path_of(split_id: str) -> str:
    found = _PART.fullmatch(split_id)
    return found.group(1) if found else split_id


def unreadable(path: str, error: Exception, where: str = "") -> BadRecordError:
    """What to raise for a file that is not of its format."""
    return BadRecordError(
        f"The file {path!r} cannot be read{where}: {reason_of(error)}",
        seen=error.seen if isinstance(error, HeadraceError) else None,
        expected=error.expected if isinstance(error, HeadraceError) else None,
        remedy=error.remedy if isinstance(error, HeadraceError) else None,
    )
