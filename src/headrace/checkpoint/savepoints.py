"""Savepoints: a checkpoint copied into a folder of its own, which can be moved, kept and restored anywhere.

The state files are written first, then `_metadata`, a manifest like those of checkpoints. A folder without it is not a
savepoint. Also finds what a path to restore from means: a savepoint, or a checkpoint that a job has left.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import uuid
from dataclasses import replace
from pathlib import Path

from headrace.checkpoint import names
from headrace.checkpoint.errors import DamagedRecordError, UntrustedStateError
from headrace.checkpoint.in_use import METADATA
from headrace.checkpoint.manifests import has_strong_sums
from headrace.checkpoint.model import Manifest, Marker, Origin
from headrace.checkpoint.record_format import decode, decode_manifest, encode
from headrace.checkpoint.signatures import SIGNATURE, SignedRecords, check_signature, signed
from headrace.errors import ConfigurationError, StateError
from headrace.foundation.private_folders import make_folders, owner_only
from headrace.state import storage
from headrace.state.files import StateFile, make_durable, problem_of

_BLOCK = 1 << 20
_CHECKPOINT = re.compile(r"chk-([0-9]+)")


def write_savepoint(manifest: Manifest, files: str, parent: str) -> str:
    """Copy a completed checkpoint below `parent`; return the folder of the savepoint.

    `files` is the folder (or URL) of the checkpoint's state files.
    """
    return copy_files(manifest, files, storage.join(parent, f"savepoint-{manifest.job_id[:6]}-{uuid.uuid4().hex[:12]}"))


def copy_files(manifest: Manifest, files: str, folder: str) -> str:
    """Make `folder` a savepoint, with the files that the manifest lists, a signature and the manifest; return the folder."""
    record = encode(replace(manifest, committables=(), parent=None))
    copied = [file.name for file in manifest.files]
    digests = {name: _digest(files, name) for name in copied} | {METADATA: hashlib.sha256(record).hexdigest()}
    signature = signed(digests)
    target, source = storage.local_path(folder), storage.local_path(files)
    if target is not None and source is not None:
        _write_local(copied, record, signature, Path(source), Path(target))
        return target
    system, place = storage.file_system(folder)
    system.makedirs(place, exist_ok=True)
    for name in copied:
        storage.copy(files, name, folder)
    system.pipe_file(f"{place}/{SIGNATURE}", signature)
    system.pipe_file(f"{place}/{METADATA}", record)
    return folder


def _write_local(copied: list[str], record: bytes, signature: bytes, source: Path, target: Path) -> None:
    try:
        make_folders(target.parent)
        target.mkdir(mode=0o700)
        for name in copied:
            _copy(source / name, target / name)
        _write(target / SIGNATURE, signature)
        make_durable(target, [*copied, SIGNATURE])
        unfinished = target / f"{METADATA}.part"
        _write(unfinished, record)
        make_durable(target, [unfinished.name])
        unfinished.replace(target / METADATA)
        make_durable(target, [])
        make_durable(target.parent, [])
    except OSError as error:
        shutil.rmtree(target, ignore_errors=True)
        raise StateError(
            f"The savepoint could not be written: {error}",
            seen=str(target),
            remedy="use a writable directory with space.",
        ) from error


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as origin, open(target, "xb", opener=owner_only) as copy:
        shutil.copyfileobj(origin, copy, _BLOCK)


def _write(target: Path, data: bytes) -> None:
    with open(target, "xb", opener=owner_only) as file:
        file.write(data)


def find_origin(path: str, *, ignore_unclaimed: bool = False, trust: bool = False) -> Origin:
    """Return what a job that restores from `path` starts from.

    A path is the folder of a savepoint (or its `_metadata`), the folder that a job has left in the checkpoint
    directory, or `chk-N` in it. In each layout the manifest must carry this user's signature, and the signature must
    cover the state files; with `trust` it need not.
    """
    url = path.rstrip("/").removesuffix(f"/{METADATA}")
    if _exists(url, METADATA):
        record, files, root = _content(url, METADATA), url, None
        manifest = decode_manifest(f"{url}/{METADATA}", record)
        check_files(Origin(manifest, files))
        if not trust:
            digests = {file.name: _digest(url, file.name) for file in manifest.files}
            signature = _content(url, SIGNATURE) if _exists(url, SIGNATURE) else None
            check_signature(signature, digests | {METADATA: hashlib.sha256(record).hexdigest()}, url)
    else:
        root, named = _checkpoint(url)
        entry = names.entry_name(int(named)) if named else newest_manifest(root)
        if entry is None or not _exists(root, entry):
            raise ConfigurationError(
                "There is no savepoint or checkpoint at the path to restore from",
                seen=path,
                expected=f"a folder with the file {METADATA}, or the folder of a job's checkpoints",
            )
        manifest = SignedRecords(trust=trust).decode_manifest(f"{root}/{entry}", _content(root, entry))
        files = storage.join(root, "state")
        if not trust and not has_strong_sums(manifest):
            raise UntrustedStateError(f"The checkpoint {path}", "its signature does not cover its state files")
    origin = Origin(manifest, files, own=False, ignore_unclaimed=ignore_unclaimed, checkpoints=root)
    check_files(origin)
    return origin


def check_files(origin: Origin) -> None:
    """Reject damaged or missing files before anything starts from them."""
    local = storage.local_path(origin.directory)
    if local is None:
        return  # each file is checked when it is read
    for entry in origin.manifest.files:
        try:
            file = StateFile(entry.name, entry.size, entry.checksum)
            problem = problem_of(Path(local, entry.name), file, origin.manifest.job_id)
        except OSError as error:
            problem = error.strerror or str(error)
        if problem is not None:
            raise StateError(
                f"The state file {entry.name} in {local} cannot be used: {problem}",
                remedy="restore from another savepoint or checkpoint.",
            )


def is_checkpoint(path: str) -> bool:
    """Return whether a path is the folder of a job's checkpoints, or one of them."""
    return newest_manifest(_checkpoint(path)[0]) is not None


def _checkpoint(url: str) -> tuple[str, str | None]:
    """Return the folder of a job's checkpoints, and the number of the one that is meant; None: the newest."""
    root, _, last = url.rpartition("/")
    named = _CHECKPOINT.fullmatch(last)
    return (root, named[1]) if named else (url, None)


def newest_manifest(root: str) -> str | None:
    """Return the name of the last manifest in a job's folder; None if there is none."""
    folder = names.LOG.rstrip("/")
    local = storage.local_path(root)
    if local is not None:
        found = os.listdir(Path(local, folder)) if Path(local, folder).is_dir() else []
    else:
        system, place = storage.file_system(root)
        there = system.exists(f"{place}/{folder}")
        found = [p.rpartition("/")[2] for p in system.ls(f"{place}/{folder}", detail=False)] if there else []
    for name in sorted((n for n in found if names.number_of(n) is not None), reverse=True):
        entry = names.LOG + name
        try:
            read_manifest(root, entry)
        except DamagedRecordError as error:
            if error.reason == "it is not a manifest":
                continue
            raise
        return entry
    return None


def read_manifest(root: str, name: str) -> Manifest:
    """Return a manifest as plain values, even an untrusted one: unpickle nothing in it."""
    return decode_manifest(f"{root}/{name}", _content(root, name))


def has_open_commits(origin: Origin) -> bool:
    """Say whether output that was staged for the origin may not be committed: it has no readable marker.

    A savepoint is written after the commits of its checkpoint, and lists no staged output.
    """
    root, manifest = origin.checkpoints, origin.manifest
    if root is None or not manifest.committables:
        return False
    name = names.marker_name(manifest.epoch)
    try:
        return not _exists(root, name) or not isinstance(decode(name, _content(root, name), manifest.job_id), Marker)
    except DamagedRecordError:
        return True


def _exists(root: str, name: str) -> bool:
    local = storage.local_path(root)
    if local is not None:
        return Path(local, name).is_file()
    system, place = storage.file_system(root)
    return bool(system.exists(f"{place}/{name}"))


def _digest(root: str, name: str) -> str:
    digest = hashlib.sha256()
    for block in storage.blocks(root, name):
        digest.update(block)
    return digest.hexdigest()


def _content(root: str, name: str) -> bytes:
    local = storage.local_path(root)
    if local is not None:
        return Path(local, name).read_bytes()
    system, place = storage.file_system(root)
    return bytes(system.cat_file(f"{place}/{name}"))
