"""Which modules and classes the pickles in recorded files name. Reads the bytes; loads none of the pickles."""

from __future__ import annotations

import base64
import binascii
import json
import pickletools
import sqlite3
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_STATE, _MANIFEST, _SQLITE = b"HRSTATE\n", b'{"attempt"', b"SQLite format 3\0"
_PICKLE, _COMPRESSED = b"\x80\x05", b"\x78\x01"


def names_below(folder: Path) -> set[str]:
    """All names, as ``module:name``, in the files below a folder: state files, manifests and staged rows."""
    return {name for file in folder.rglob("*") if file.is_file() for data in _pickles(file) for name in names_in(data)}


def _pickles(file: Path) -> Iterator[bytes]:
    data = file.read_bytes()
    if data.startswith(_STATE):
        yield from _blocks(data)
    elif data.startswith(_SQLITE):
        with sqlite3.connect(file) as connection:
            if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'headrace_staged'").fetchone():
                yield from (bytes(row[0])[1:] for row in connection.execute("SELECT data FROM headrace_staged"))
    elif data.startswith(_MANIFEST):
        yield from _in_json(json.loads(data.splitlines()[0]))
    elif data.startswith(_PICKLE):
        yield data


def _blocks(data: bytes) -> Iterator[bytes]:
    """The blocks of a state file; its layout is that of `headrace.state.file_format`."""
    offset, length = struct.unpack_from(">QI", data, len(data) - 52)
    for *_, start, size, _digest, _codec in json.loads(data[offset : offset + length]):
        yield data[start : start + size]


def _in_json(value: Any) -> Iterator[bytes]:
    """Texts in a manifest that are pickles, plain or compressed."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _in_json(item)
    elif isinstance(value, str):
        yield from _in_text(value)


def _in_text(text: str) -> Iterator[bytes]:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return
    if data.startswith(_COMPRESSED):
        data = zlib.decompress(data)
    if data.startswith(_PICKLE):
        yield data


def names_in(data: bytes) -> Iterator[str]:
    """The names in a pickle, and in pickles that are among its values."""
    memo: dict[int, str | None] = {}
    pushed: list[str | None] = [None, None]
    for operation, argument, _ in pickletools.genops(data):
        name = operation.name
        if name == "MEMOIZE":
            memo[len(memo)] = pushed[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            pushed.append(memo[argument])
        elif name == "STACK_GLOBAL":
            yield f"{pushed[-2]}:{pushed[-1]}"
            pushed.append(None)
        elif name == "GLOBAL":
            yield argument.replace(" ", ":")
            pushed.append(None)
        else:
            pushed.append(argument if isinstance(argument, str) else None)
            for inner in _in_value(argument):
                yield from names_in(inner)


def _in_value(value: Any) -> Iterator[bytes]:
    """Pickles in a value that a pickle holds, plain or after one byte that names the codec."""
    if isinstance(value, str):
        yield from _in_text(value)
    elif isinstance(value, bytes | bytearray):
        yield from (inner for inner in (bytes(value), bytes(value[1:])) if inner.startswith(_PICKLE))
