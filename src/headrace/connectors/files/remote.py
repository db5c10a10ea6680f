"""File sinks on other file systems, through fsspec.

Parts are written on the local side (the job's working directory). The task uploads a pending part under a hidden name; the
commit renames it, which on object stores is a copy by the store itself. What a checkpoint relies on is uploaded under hidden
names too: the local side may be lost with its machine.
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

_BLOCK = 1 << 20


def upload(local: str, final: str) -> str:
    """Copy a pending part beside its final place and return its hidden address."""
    return _upload_hidden(local, final, "pending")


def upload_segment(local: str, start: int, final: str) -> str:
    """Copy a part from byte `start` on beside its final place and return the hidden address."""
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
    if not present(system, target):  # WebHDFS reports a failed rename in its answer, which fsspec does not check
        raise OSError(f"{source} could not be renamed to {target}")
