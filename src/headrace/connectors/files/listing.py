"""Which files a path means: a file, all files under a directory, or those that match a pattern. Called by file sources."""

from __future__ import annotations

import glob
import os
import posixpath
from collections.abc import Sequence

from headrace.errors import InvalidProgramError
from headrace.foundation.file_systems import file_system, is_local, local_path

_PATTERN = frozenset("*?[")


def list_files(paths: Sequence[str], may_be_missing: bool = False) -> list[str]:
    """All files that `paths` mean, each once, in the order of the paths and sorted within each.

    Files and directories whose names begin with a dot or an underscore are left out of directories, as in Flink.
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
