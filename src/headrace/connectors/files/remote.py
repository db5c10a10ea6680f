"""File sinks on other file systems, through fsspec.

Parts are written on the local side (the job's working directory). A part that is pending is uploaded under a hidden name by
its task; the commit gives it its final name. On object stores that is a copy by the store itself. What a checkpoint counts on
is uploaded under hidden names too: the local side may be lost with its machine.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
import shutil
import uuid
from typing import Any

from headrace.foundation.file_systems import file_system, present
from headrace.state import storage

__all__ = ["exists", "remove", "rename", "upload", "upload_segment"]

_BLOCK = 1 << 20


def upload(local: str, final: str) -> str:
    """Copy a pending part beside its final place; gives the hidden address that it has there."""
    return _upload_hidden(local, final, "pending")


def upload_segment(local: str, start: int, final: str) -> str:
    """Copy what a part has from byte `start` on beside its final place; gives the hidden address that it has there."""
    if not start:
        return _upload_hidden(local, final, "segment")
    rest = f"{local}.segment"
    try:
        with open(local, "rb") as source, open(rest, "wb") as target:
            source.seek(start)
            shutil.copyfileobj(source, target, _BLOCK)
        return _upload_hidden(rest, final, "segment")
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(rest)


def _upload_hidden(local: str, final: str, kind: str) -> str:
    folder, name = posixpath.split(final)
    hidden = f".{name}.{kind}.{uuid.uuid4().hex}"
    system, path = file_system(folder)
    with contextlib.suppress(NotImplementedError):  # object stores have no folders
        system.makedirs(path, exist_ok=True)
    directory, file = os.path.split(local)
    storage.upload(directory, file, folder, hidden)
    return posixpath.join(folder, hidden)


def rename(hidden: str, final: str) -> bool:
    """Give a part its final name; return False if there is no such part."""
    system, source = file_system(hidden)
    target = system._strip_protocol(final)  # noqa: SLF001 - fsspec's way from an address to a path
    try:
        _move(system, source, target)
    except FileNotFoundError:
        return False
    return True


def _move(system: Any, source: str, target: str) -> None:
    if not present(system, source):
        raise FileNotFoundError(source)
    system.mv(source, target)
    if not present(system, target):  # WebHDFS says in its answer that it did not rename; fsspec does not look at it
        raise OSError(f"{source} could not be renamed to {target}")


def exists(url: str) -> bool:
    """Say whether a file is there."""
    system, path = file_system(url)
    return present(system, path)


def remove(url: str) -> None:
    """Delete a file; one that is gone is fine."""
    system, path = file_system(url)
    with contextlib.suppress(FileNotFoundError):
        system.rm_file(path)
