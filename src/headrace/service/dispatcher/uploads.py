"""Store uploaded programs in one folder, under names that clients cannot choose.

Decides which zip archives are accepted: those that can be unpacked into a folder, and stay small when unpacked.
"""

from __future__ import annotations

import re
import shutil
import struct
import uuid
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from headrace.config.pipeline_keys import BUNDLED
from headrace.service.errors import RequestError

_NAME = re.compile(r"[\w][\w.\- ]{0,120}\.(py|zip)")
_STORED = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}_" + _NAME.pattern)


class Uploads:
    """The folder of uploaded programs.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "x").write_text("pass")
    >>> uploads = Uploads(folder / "uploads")
    >>> stored = uploads.add("job.py", folder / "x")
    >>> [entry["name"] for entry in uploads.listed()], uploads.find(stored.name) == stored
    (['job.py'], True)
    >>> uploads.find("../x")
    Traceback (most recent call last):
    ...
    headrace.service.errors.RequestError: File '../x' does not exist among the uploaded programs. [REQUEST]
    """

    def __init__(self, folder: Path, longest_unpacked: int = 400_000_000) -> None:
        """Create the folder; `longest_unpacked` limits the total size in bytes of an archive's entries."""
        self._folder = folder
        self._longest_unpacked = longest_unpacked
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def add(self, name: str, content: Path) -> Path:
        """Store a copy under a unique name that ends with the client's file name, and return its path."""
        last = name.replace("\\", "/").rpartition("/")[2]
        if last != name or not _NAME.fullmatch(last):
            raise RequestError("Only .py and .zip files with plain names are allowed.")
        if last.endswith(".zip"):
            check_archive(content, self._longest_unpacked)
        stored = self._folder / f"{uuid.uuid4()}_{last}"
        shutil.copyfile(content, stored)
        return stored

    def find(self, name: str) -> Path:
        path = self._folder / name if _STORED.fullmatch(name) else None
        if path is None or path.is_symlink() or not path.is_file():
            raise RequestError(f"File {name[:100]!r} does not exist among the uploaded programs.")
        return path

    def remove(self, name: str) -> None:
        """Delete the program. Jobs that were started with it have their own copies."""
        self.find(name).unlink()

    def listed(self) -> list[dict[str, Any]]:
        """Return all programs as Flink's JSON lists them, latest first."""
        found = [p for p in self._folder.iterdir() if _STORED.fullmatch(p.name) and p.is_file()]
        entries = [
            {"id": p.name, "name": p.name.partition("_")[2], "uploaded": int(p.stat().st_mtime * 1000), "entry": []}
            for p in found
        ]
        return sorted(entries, key=lambda entry: -int(str(entry["uploaded"])))


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
