"""Which files a path means: a file, all files under a directory, or those that match a pattern. Called by file sources."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from headrace.common.errors import InvalidProgramError

_PATTERN = frozenset("*?[")


def local_path(path: str) -> str:
    """The path in the local file system, also of a `file:` address.

    >>> local_path("file:///tmp/a%20b"), local_path("/tmp/a")
    ('/tmp/a b', '/tmp/a')
    """
    address = urlsplit(path)
    if not address.scheme or len(address.scheme) == 1:
        return path
    if address.scheme == "file":
        return unquote(address.path)
    raise InvalidProgramError(
        f"Paths with the scheme {address.scheme!r} cannot be read in this version",
        seen=path,
        expected="a path in the local file system, with or without file://",
    )


def list_files(paths: Sequence[str], may_be_missing: bool = False) -> list[str]:
    """All files that `paths` mean, each once, in the order of the paths and sorted within each.

    Files and directories whose names begin with a dot or an underscore are left out of directories, as in Flink.
    """
    found: dict[str, None] = {}
    for path in map(local_path, paths):
        if os.path.isfile(path):
            files = [path]
        elif os.path.isdir(path):
            files = _files_under(path)
        else:
            files = sorted(f for f in glob.glob(path, recursive=True) if os.path.isfile(f))
            if not files and not may_be_missing:
                matched = "matches no file" if _PATTERN & set(path) else "does not exist"
                raise InvalidProgramError(f"The path of a file source {matched}", seen=path)
        found.update(dict.fromkeys(os.path.abspath(file) for file in files))
    return list(found)


def _files_under(directory: str) -> list[str]:
    files: list[str] = []
    for folder, folders, names in os.walk(directory):
        folders[:] = sorted(f for f in folders if not _hidden(f))
        files.extend(os.path.join(folder, name) for name in sorted(names) if not _hidden(name))
    return files


def _hidden(name: str) -> bool:
    return name.startswith((".", "_"))
