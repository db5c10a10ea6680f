"""Decide which zip archives are accepted: those that can be unpacked into a folder, and stay small when unpacked.

Names and sizes are checked when a program is uploaded, before anything is unpacked. The table of entries comes first,
because its size decides how much memory the names take.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

from headrace.config.job_file_keys import BUNDLED
from headrace.service.errors import RequestError

UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError)
"""Errors that the standard library raises for an archive that is damaged, encrypted or of an unknown kind."""
_LONGEST_TABLE = 1 << 20
_LONGEST_PATH, _LONGEST_NAME = 400, 200
_END, _END_OF_64 = b"PK\x05\x06", b"PK\x06\x07"
_END_FORM = struct.Struct("<4s4H2LH")
_LONGEST_COMMENT = 1 << 16


def check_archive(path: Path, longest_unpacked: int) -> None:
    """Raise RequestError unless the file is an archive that can be unpacked safely."""
    try:
        if _table_size(path) > _LONGEST_TABLE:
            raise RequestError(f"The archive has too many entries: their table is longer than {_LONGEST_TABLE} bytes.")
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except RequestError:
        raise
    except UNREADABLE:
        raise RequestError("The file is not a zip archive.") from None
    _check_names([entry.filename for entry in entries])
    if any(entry.flag_bits & 1 for entry in entries):
        raise RequestError("The archive is encrypted.")
    if any(e.filename.startswith(BUNDLED) and e.file_size > e.compress_size for e in entries):
        raise RequestError(f"Files below {BUNDLED} in the archive must be stored, not compressed.")
    if sum(entry.file_size for entry in entries) > longest_unpacked:
        raise RequestError(f"The archive is too large when unpacked: at most {longest_unpacked} bytes are allowed.")


def _table_size(path: Path) -> int:
    """Return the size of the table of entries, as the end of the file states it."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        start = max(0, size - _LONGEST_COMMENT - _END_FORM.size - 20)
        file.seek(start)
        tail = file.read()
    found = tail.rfind(_END)
    if found < 0 or len(tail) < found + _END_FORM.size:
        raise RequestError("The file is not a zip archive.")
    if tail[max(0, found - 20) : found].startswith(_END_OF_64):  # its table is described elsewhere
        raise RequestError("Archives in the zip64 format are not accepted.")
    return int(_END_FORM.unpack_from(tail, found)[5])


def _check_names(names: Iterable[str]) -> None:
    """Require that every name is a plain relative path, that none occurs twice, and that none is both file and folder."""
    files: set[tuple[str, ...]] = set()
    folders: set[tuple[str, ...]] = set()
    for name in names:
        parts = tuple(name.removesuffix("/").split("/"))
        if name.startswith("/") or "\\" in name or ".." in parts:
            raise RequestError("The archive contains names that point outside of it.")
        if any(part in ("", ".") or not part.isprintable() or len(part) > _LONGEST_NAME for part in parts):
            raise RequestError("The archive contains names that are not plain paths.")
        if len(name) > _LONGEST_PATH:
            raise RequestError(f"The archive contains a path of more than {_LONGEST_PATH} characters.")
        if name.endswith("/"):
            folders.add(parts)
        elif parts in files:
            raise RequestError(f"The archive contains {name!r} twice.")
        else:
            files.add(parts)
        folders.update(parts[:length] for length in range(1, len(parts)))
    both = files & folders
    if both:
        raise RequestError(f"In the archive, {'/'.join(min(both))!r} is both a file and a folder.")
