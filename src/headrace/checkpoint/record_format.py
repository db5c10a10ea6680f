r"""The bytes of a record: JSON and a checksum. Version 1.

Decides the layout and what is rejected. Never opens files. Reading runs no code of the record's writer.

1. One line of JSON, ASCII, keys sorted: ``{"attempt", "body", "epoch", "format", "generation", "job_id", "kind",
   "version"}``. All but `body`, `format` and `version` form the header: who wrote it, for what.
2. In a signed record, one line ``signed:<signature of line 1>``; see `headrace.checkpoint.signatures`.
3. One line with the SHA-256 of all before it, line ends included, in hex. The checksum detects accidents; it is not a signature.

A record is rejected if a byte is missing, added or changed, if it belongs to another job, or if its kind, generation or
epoch differ from its name (a swapped or copied file).
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from headrace.checkpoint import names
from headrace.checkpoint.errors import DamagedRecordError, StoreError
from headrace.checkpoint.model import Committable, FileEntry, Generation, Manifest, Marker, Plan, Record, Seal
from headrace.connectors.base.sink_committer import Handle

FORMAT_VERSION = 1
_FORMAT = "headrace-record"
_KINDS: dict[str, type[Record]] = {
    "generation": Generation,
    "plan": Plan,
    "manifest": Manifest,
    "seal": Seal,
    "marker": Marker,
}
_KIND_OF = {cls: kind for kind, cls in _KINDS.items()}
_FOLDERS = {
    "generation": names.GENERATIONS,
    "plan": names.PLANS,
    "manifest": names.LOG,
    "seal": names.LOG,
    "marker": names.MARKERS,
}
_HEADER = {"job_id": str, "generation": int, "epoch": int, "attempt": str}
_TAIL = 65
_MARK = b"signed:"


def encode(record: Record) -> bytes:
    """Return the bytes of a record.

    >>> data = encode(Marker("job", 1, 7, "a"))
    >>> decode("markers/0000000007", data, "job")
    Marker(job_id='job', generation=1, epoch=7, attempt='a')
    """
    body = {k: v for k, v in vars(record).items() if k not in _HEADER}
    if isinstance(record, Manifest):
        body["files"] = [[f.owner, f.name, f.size, f.checksum] for f in record.files]
        body["committables"] = [
            [sink, h.subtask, h.generation, h.checkpoint, h.id, h.payload] for sink, h in record.committables
        ]
    whole = {
        "format": _FORMAT,
        "version": FORMAT_VERSION,
        "kind": _KIND_OF[type(record)],
        "body": body,
        **{k: getattr(record, k) for k in _HEADER},
    }
    try:
        text = json.dumps(whole, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(
            f"A record cannot be written as JSON: {error}",
            seen=record,
            remedy="positions and committables may contain strings, numbers, lists and dicts with string keys.",
        ) from error
    return _with_checksum(text.encode() + b"\n")


def _with_checksum(lines: bytes) -> bytes:
    return lines + hashlib.sha256(lines).hexdigest().encode() + b"\n"


def with_signature(data: bytes, signature: bytes) -> bytes:
    """Return the bytes of a record with a signature of its first line."""
    return _with_checksum(split(data)[0] + _MARK + signature + b"\n")


def split(data: bytes) -> tuple[bytes, bytes | None]:
    """Return the signed line, and the signature or None. `decode` checks whether they are damaged.

    >>> split(with_signature(encode(Marker("job", 1, 7, "a")), b"abc"))[1]
    b'abc'
    """
    line, end, signature = data[:-_TAIL].partition(b"\n")
    return line + end, signature.removeprefix(_MARK).removesuffix(b"\n") if signature.startswith(_MARK) else None


def decode(name: str, data: bytes, job_id: str) -> Record:
    """Return the record, or raise `DamagedRecordError` with its name."""
    lines, tail = data[:-_TAIL], data[-_TAIL:]
    if len(tail) != _TAIL or not lines.endswith(b"\n") or tail[-1:] != b"\n":
        raise DamagedRecordError(name, "it is truncated, or not a record of headrace")
    if hashlib.sha256(lines).hexdigest().encode() != tail[:-1]:
        raise DamagedRecordError(name, "its checksum is wrong")
    try:
        line, signature = split(data)
        if signature is None and line != lines:
            raise DamagedRecordError(name, "it has extra lines")
        whole = json.loads(line)
        if whole["format"] != _FORMAT:
            raise DamagedRecordError(name, "it is not a record of headrace")
        if whole["version"] != FORMAT_VERSION:
            seen = whole["version"]
            raise DamagedRecordError(name, f"its format version is {seen!r}; this version reads {FORMAT_VERSION}")
        kind, header = whole["kind"], {k: whole[k] for k in _HEADER}
        _check_header(name, kind, header, job_id)
        return _build(kind, header, whole["body"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise DamagedRecordError(name, f"its contents are invalid: {error!r}") from error


def decode_manifest(name: str, data: bytes) -> Manifest:
    """Return a manifest from outside a store, as in a savepoint, whatever job it belongs to."""
    try:
        whole = json.loads(split(data)[0])
        job_id, epoch = whole["job_id"], whole["epoch"]
        record = decode(names.entry_name(epoch), data, job_id)
    except DamagedRecordError as error:
        raise DamagedRecordError(name, error.reason) from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise DamagedRecordError(name, "it is truncated, or not a record of headrace") from error
    if not isinstance(record, Manifest):
        raise DamagedRecordError(name, "it is not a manifest")
    return record


def _check_header(name: str, kind: str, header: dict[str, Any], job_id: str) -> None:
    for key, cls in _HEADER.items():
        if type(header[key]) is not cls:
            raise DamagedRecordError(name, f"its {key} is {header[key]!r}")
    if header["job_id"] != job_id:
        raise DamagedRecordError(name, f"it belongs to job {header['job_id']!r}, not {job_id!r}")
    if kind not in _KINDS or not name.startswith(_FOLDERS[kind]):
        raise DamagedRecordError(name, f"it is a {kind!r}, which belongs elsewhere")
    said: object
    if kind == "plan":
        said, wanted = names.plan_age(name), (header["epoch"], header["generation"])
    else:
        said, wanted = names.number_of(name), header["generation" if kind == "generation" else "epoch"]
    if said != wanted:
        raise DamagedRecordError(name, f"it is the {kind} of {wanted}, not of {said}")


def _build(kind: str, header: dict[str, Any], body: dict[str, Any]) -> Record:
    if kind == "manifest":
        body = {**body, "files": tuple(_file(f) for f in body["files"])}
        body["committables"] = tuple(_committable(c) for c in body["committables"])
    parent = body.get("parent")
    if parent is not None and type(parent) is not int:
        raise TypeError(f"parent {parent!r}")
    for key in ("positions", "watermarks", "parallelism", "facts"):
        if not isinstance(body.get(key, {}), dict):
            raise TypeError(key)
    return _KINDS[kind](**header, **body)


def _file(row: list[Any]) -> FileEntry:
    owner, name, size, checksum = row
    if (type(owner), type(name), type(size), type(checksum)) != (str, str, int, int):
        raise TypeError(f"file {row!r}")
    if name in ("", ".", "..") or "/" in name or "\0" in name:  # it must not leave the folder
        raise ValueError(f"file {row!r}")
    return FileEntry(owner, name, size, checksum)


def _committable(row: list[Any]) -> Committable:
    sink, subtask, generation, checkpoint, handle, payload = row
    if tuple(map(type, row[:5])) != (str, int, int, int, str):
        raise TypeError(f"committable {row!r}")
    return Committable(sink, Handle(handle, subtask, checkpoint, generation, payload))
