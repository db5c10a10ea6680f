"""Removes savepoints, and checkpoints of jobs that are over. Never removes anything else.

1. The folder must contain a valid manifest, and otherwise only files that the manifest or the checkpoint protocol knows by
   name. With a single other entry, the whole folder stays as it is.
2. No running job may use it; see `headrace.checkpoint.in_use`.
3. Only these files are removed, one by one, the manifest last, so that an interrupted removal can be repeated. Then the
   empty folder is removed.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

from headrace.checkpoint import names
from headrace.checkpoint.errors import DamagedRecordError
from headrace.checkpoint.gc import age_of
from headrace.checkpoint.in_use import CHECKPOINT_LOCK, METADATA, alone_with
from headrace.checkpoint.savepoints import is_checkpoint, newest_manifest, read_manifest
from headrace.checkpoint.signatures import SIGNATURE
from headrace.errors import ConfigurationError
from headrace.state import storage

_UNFINISHED = f"{METADATA}.part"
_log = logging.getLogger("headrace")


def discard_savepoint(path: str) -> None:
    """Remove a savepoint, given by its folder or its `_metadata`."""
    url = path.rstrip("/").removesuffix(f"/{METADATA}")
    local = storage.local_path(url)
    if local is not None:
        if not Path(local, METADATA).is_file():
            raise _no_savepoint(path, is_checkpoint(url))
        with alone_with(Path(local, METADATA), local):  # 2
            known = _known_files(path, url)
            _require_all_known(local, known)  # 1
            for name in [*known, METADATA]:  # 3
                Path(local, name).unlink(missing_ok=True)
            os.rmdir(local)
        return
    system, place = storage.file_system(url)
    if not system.exists(f"{place}/{METADATA}"):
        raise _no_savepoint(path, is_checkpoint(url))
    known = _known_files(path, url)
    found = {entry["name"].rstrip("/").rpartition("/")[2]: entry["type"] for entry in system.ls(place, detail=True)}
    for name, kind in found.items():
        if name and (kind != "file" or name not in {*known, METADATA}):
            raise _foreign(path, name)
    for name in [*(name for name in known if name in found), METADATA]:
        system.rm_file(f"{place}/{name}")
    try:
        system.rmdir(place)
    except (OSError, NotImplementedError) as error:  # object stores have no folders
        _log.debug("headrace: the empty folder %s was not removed: %s", place, error)


def discard_claimed(path: str) -> None:
    """Remove what a job was restored from in claim mode: a savepoint, or the folder of another job's checkpoints.

    A single checkpoint, `chk-N`, stays: it shares its files with others.
    """
    url = path.rstrip("/")
    if newest_manifest(url) is not None:
        discard_checkpoints(url)
    elif not is_checkpoint(url):
        discard_savepoint(path)


def discard_checkpoints(root: str) -> None:
    """Remove the folder of a job's checkpoints: the job is over, and no job starts from them any more."""
    local = storage.local_path(root)
    if newest_manifest(root) is None:
        raise ConfigurationError("There are no checkpoints to remove", seen=root)
    if local is None:
        system, place = storage.file_system(root)
        found = [entry.removeprefix(f"{place}/") for entry in system.find(place)]
        _require_protocol_names(root, found)
        for name in found:
            system.rm_file(f"{place}/{name}")
        return
    with alone_with(Path(local, CHECKPOINT_LOCK), local):
        found = [os.path.relpath(os.path.join(folder, f), local) for folder, _, files in os.walk(local) for f in files]
        _require_protocol_names(root, found)
        for name in sorted(found, key=lambda name: name.startswith(names.LOG)):
            Path(local, name).unlink(missing_ok=True)
        for folder, _, _ in os.walk(local, topdown=False):
            try:
                os.rmdir(folder)
            except OSError as error:  # something was added since: it stays
                _log.warning("headrace: the folder %s was not removed: %s", folder, error)


def _known_files(path: str, url: str) -> list[str]:
    """Return all names that a savepoint's folder may contain besides `_metadata`."""
    try:
        manifest = read_manifest(url, METADATA)
    except DamagedRecordError as error:
        raise ConfigurationError(
            f"There is no savepoint to delete: its file {METADATA} is not headrace's ({error.reason})", seen=path
        ) from error
    return [SIGNATURE, _UNFINISHED, *dict.fromkeys(file.name for file in manifest.files)]


def _require_all_known(local: str, known: list[str]) -> None:
    if os.path.islink(local):
        raise ConfigurationError(
            "A link to a savepoint is not deleted", seen=local, remedy="give the path of the folder itself"
        )
    for entry in os.scandir(local):
        if entry.name not in {*known, METADATA} or not entry.is_file(follow_symlinks=False):
            raise _foreign(local, entry.name)


def _require_protocol_names(root: str, found: list[str]) -> None:
    for name in found:
        known = name == CHECKPOINT_LOCK or (name.startswith(names.FOLDERS) and name.count("/") == 1 and age_of(name))
        if not known:
            raise _foreign(root, name)


def _no_savepoint(path: str, checkpoint: bool) -> ConfigurationError:
    if checkpoint:
        return ConfigurationError(
            "This is a checkpoint of a job, not a savepoint",
            seen=path,
            remedy="a job removes its checkpoints itself; delete the folder when the job is over for good",
        )
    return ConfigurationError("There is no savepoint to delete", seen=path)


def _foreign(path: str, name: str) -> ConfigurationError:
    return ConfigurationError(
        "The folder contains something that is not part of a savepoint or checkpoint, so nothing was deleted",
        seen=f"{name} in {path}",
        remedy="move it out of the folder, and try again",
    )
