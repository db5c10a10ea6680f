"""Finds the files of a file source, in the driver, and cuts large ones into splits.

1. A path is a file, a directory with all files under it, or a pattern; a format may cut a large file into ranges.
2. With `monitor_seconds` the paths are listed again and again; a file that was seen once is never read again, as in Flink.
"""

from __future__ import annotations

import glob
import itertools
import os
import posixpath
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from headrace.connectors.base.split_enumerator import PeriodicEnumerator, Split, SplitProgress
from headrace.connectors.files.file_format import FileRange
from headrace.errors import InvalidProgramError
from headrace.foundation.file_systems import file_system, is_local, local_path

if TYPE_CHECKING:
    from headrace.connectors.files.source import Files

_PART = re.compile(r"(.*)#\d+-\d+", re.DOTALL)
_PATTERN = frozenset("*?[")


class FileEnumerator(PeriodicEnumerator):
    """The driver's side of a file source."""

    def __init__(self, source: Files) -> None:
        super().__init__(source.monitor_seconds)
        self._source = source

    def find(self, progress: SplitProgress, first: bool) -> list[Split]:
        seen = {_path_of(split_id) for split_id in progress.known}
        files = list_files(self._source.paths, may_be_missing=not self._source.bounded)
        return [split for file in files if file not in seen for split in self._parts(file, progress.parallelism)]

    def _parts(self, path: str, parallelism: int) -> list[Split]:
        cut = self._source.cut_large_files and parallelism > 1
        cuts = self._source.format.cuts(path, parallelism) if cut else []
        if len(cuts) <= 2:
            return [Split(path, FileRange(path))]
        return [Split(f"{path}#{a}-{b}", FileRange(path, a, b)) for a, b in itertools.pairwise(cuts)]


def _path_of(split_id: str) -> str:
    found = _PART.fullmatch(split_id)
    return found.group(1) if found else split_id


def list_files(paths: Sequence[str], may_be_missing: bool = False) -> list[str]:
    """Return all files that `paths` mean, each once, in the order of the paths and sorted within each.

    Files and directories whose names begin with a dot or an underscore are skipped in directories, as in Flink.
    """
    found: dict[str, None] = {}
    for path in paths:
        files = _local(local_path(path)) if is_local(path) else _remote(path)
        if not files and not may_be_missing and not _is_directory(path):
            matched = "matches no file" if _PATTERN & set(path) else "does not exist"
            raise InvalidProgramError(f"The path of a file source {matched}", seen=path)
        found.update(dict.fromkeys(files))
    return list(found)


def _local(path: str) -> list[str]:
    if os.path.isfile(path):
        files = [path]
    elif os.path.isdir(path):
        files = _files_under(path)
    else:
        files = sorted(f for f in glob.glob(path, recursive=True) if os.path.isfile(f))
    return [os.path.abspath(file) for file in files]


def _remote(path: str) -> list[str]:
    system, inner = file_system(path)
    if _PATTERN & set(path):
        names = [name for name in sorted(system.glob(inner)) if system.isfile(name)]
    elif system.isdir(inner):
        prefix = inner.rstrip("/") + "/"
        names = sorted(system.find(inner))
        names = [n for n in names if not any(map(_hidden, n.removeprefix(prefix).split("/")))]
    else:
        names = [inner] if system.exists(inner) else []
    return [str(system.unstrip_protocol(name)) for name in names]


def _is_directory(path: str) -> bool:
    if is_local(path):
        return os.path.isdir(local_path(path))
    system, inner = file_system(path)
    return bool(system.isdir(inner))


def _files_under(directory: str) -> list[str]:
    files: list[str] = []
    for folder, folders, names in os.walk(directory):
        folders[:] = sorted(f for f in folders if not _hidden(f))
        files.extend(os.path.join(folder, name) for name in sorted(names) if not _hidden(name))
    return files


def _hidden(name: str) -> bool:
    return posixpath.basename(name).startswith((".", "_"))
