"""File sinks on other file systems, through fsspec.

Parts are written on the local side (the job's state directory, which driver and tasks see). A part that is pending is uploaded
under a hidden name by its task; the commit gives it its final name. On object stores that is a copy by the store itself.
"""

from __future__ import annotations

import contextlib
import posixpath
import uuid
from typing import Any

from headrace.common.storage import file_system

__all__ = ["exists", "remove", "rename", "upload"]


def upload(local: str, final: str) -> str:
    """Copy a pending part beside its final place; gives the hidden address that it has there."""
    folder, name = posixpath.split(final)
    hidden = posixpath.join(folder, f".{name}.pending.{uuid.uuid4().hex}")
    system, path = file_system(hidden)
    with contextlib.suppress(NotImplementedError):  # object stores have no folders
        system.makedirs(posixpath.dirname(path), exist_ok=True)
    system.put_file(local, path)
    return hidden


def rename(hidden: str, final: str) -> bool:
    """Give a part its final name; False if there is no such part."""
    system, source = file_system(hidden)
    target = system._strip_protocol(final)  # noqa: SLF001 - fsspec's way from an address to a path
    try:
        _move(system, source, target)
    except FileNotFoundError:
        return False
    return True


def _move(system: Any, source: str, target: str) -> None:
    if not system.exists(source):
        raise FileNotFoundError(source)
    system.mv(source, target)


def exists(url: str) -> bool:
    """Say whether a file is there."""
    system, path = file_system(url)
    system.invalidate_cache()
    return bool(system.exists(path))


def remove(url: str) -> None:
    """Delete a file; one that is gone is fine."""
    system, path = file_system(url)
    with contextlib.suppress(FileNotFoundError):
        system.rm_file(path)
