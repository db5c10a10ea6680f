"""Store uploaded programs in one folder, under names that clients cannot choose."""

from __future__ import annotations

import re
import shutil
import uuid
from pathlib import Path
from typing import Any

from headrace.service.dispatcher.archives import check_archive
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
