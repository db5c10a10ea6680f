"""Where staged output waits for its commit: beside the files of the checkpoints, so it is as durable as what names it.

Decides how a staged file is written, read and removed, locally or on any file system of fsspec. A staged file has the name of
its handle, which tells the job's garbage collection when it is not needed any more. Never decides when it is committed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import IO, Any, cast

from headrace.connectors.base.sink_committer import StagedOutputLostError
from headrace.foundation.file_systems import file_system, is_local, present
from headrace.foundation.private_folders import make_durable, owner_only
from headrace.state import storage

_BUFFER_BYTES = 1 << 20


def stage(name: str, write: Callable[[IO[bytes]], None], place: str, working: str) -> str:
    """Write a staged file; return its address once it is durable. Raise if it cannot be: then the epoch fails.

    `place` is the folder (or URL) of staged files. On other file systems the file is written into the local folder
    `working` first, and uploaded from there.
    """
    local = storage.local_path(place)
    if local is not None:
        path = os.path.join(local, name)
        _write(path, write)
        make_durable(local)
        return path
    try:
        _write(os.path.join(working, name), write, sync=False)
        storage.upload(working, name, place)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(working, name))
    return storage.join(place, name)


def open_staged(address: str, what: str) -> IO[bytes]:
    """Open a staged file to read its bytes. Raise `StagedOutputLostError`, which begins with `what`, if it is gone."""
    try:
        if is_local(address):
            return open(address, "rb")
        system, path = file_system(address)
        return cast("IO[bytes]", system.open(path, "rb"))
    except FileNotFoundError:
        raise StagedOutputLostError(
            f"{what}: they were aborted, or their file is gone",
            seen=address,
            remedy="restore the file; headrace itself removes none that a checkpoint needs",
        ) from None


def fetch(address: str, folder: str, what: str) -> str:
    """Return the local path of a staged file, copied into `folder` if it is on another file system."""
    if is_local(address):
        open_staged(address, what).close()
        return address
    path = os.path.join(folder, address.rpartition("/")[2])
    with open_staged(address, what) as source, open(path, "wb") as target:
        while block := source.read(_BUFFER_BYTES):
            target.write(block)
    return path


def exists(address: str) -> bool:
    """Say whether a staged file, or a mark, exists."""
    if is_local(address):
        return os.path.exists(address)
    system, path = file_system(address)
    return present(system, path)


def create_mark(address: str) -> None:
    """Make an empty file durable."""
    if not is_local(address):
        system, path = file_system(address)
        system.pipe_file(path, b"")
        return
    _write(address, lambda _: None)
    make_durable(os.path.dirname(address))


def remove(address: str) -> None:
    """Delete a staged file; one that is gone is fine."""
    with contextlib.suppress(FileNotFoundError):
        if is_local(address):
            os.unlink(address)
            return
        system, path = file_system(address)
        system.rm_file(path)


def _write(path: str, write: Callable[[IO[bytes]], Any], sync: bool = True) -> None:
    with open(path, "xb", buffering=_BUFFER_BYTES, opener=owner_only) as file:
        write(file)
        file.flush()
        if sync:
            os.fsync(file.fileno())
