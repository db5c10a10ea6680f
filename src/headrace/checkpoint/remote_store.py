"""A store on any file system that fsspec knows: s3, gs, abfs, hdfs, memory and so on.

How a record is created if there is none:

- Object stores make an object appear whole and durably, or not at all. Create-if-absent is fsspec's mode "create", a
  conditional request if the store has one. If it has none, two drivers that start at the same instant could both win.
- HDFS shows a file while it is written, but renaming is atomic and never replaces a file. So the record is written under a
  temporary name and renamed.

Each file system has its own errors (those of HTTP clients are not OSErrors), so every exception counts as a failure.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable

from headrace.checkpoint import names
from headrace.checkpoint.errors import OutcomeUnknownError, RecordMissingError, StoreError
from headrace.checkpoint.model import FileEntry, Record
from headrace.checkpoint.signatures import SignedRecords
from headrace.errors import reason_of
from headrace.foundation.file_systems import present
from headrace.state.storage import file_system

_RENAMING = {"hdfs", "viewfs", "webhdfs"}
"""Protocols of file systems whose rename never replaces a file."""


class RemoteStore:
    """Records of one job below a URL.

    >>> from headrace.checkpoint.model import Marker
    >>> store = RemoteStore("memory://doctest/job", "job")
    >>> marker = Marker("job", 1, 7, "a")
    >>> store.create("markers/0000000007", marker), store.create("markers/0000000007", marker)
    (True, False)
    >>> store.list("markers/"), store.read("markers/0000000007") == marker
    (['markers/0000000007'], True)
    """

    def __init__(self, url: str, job_id: str, records: SignedRecords | None = None) -> None:
        """Create nothing until the first record. `records` decides whose manifests are trusted; see `FileStore`."""
        self._system, self._root = file_system(url)
        self._job_id = job_id
        protocol = self._system.protocol
        self._renames = bool(_RENAMING & set((protocol,) if isinstance(protocol, str) else protocol))
        self._records = records or SignedRecords()

    def settle(self) -> None:
        """Do nothing: what is visible in an object store is durable."""

    def create(self, name: str, record: Record, inside: Callable[[], None] | None = None) -> bool:
        data = self._records.encode(record)
        if inside is not None:
            inside()
        path = self._path(name)
        try:
            if self._present(path):
                return False
            if self._renames:
                return self._create_by_renaming(
                    path, self._path(names.temporary_name(record.generation, uuid.uuid4().hex)), data
                )
            self._system.pipe_file(path, data, mode="create")
        except FileExistsError:
            return False
        except NotImplementedError:
            self._write(path, data)
        except Exception as error:
            raise OutcomeUnknownError(f"The record {name} may not have been written: {reason_of(error)}") from error
        return True

    def _create_by_renaming(self, path: str, temporary: str, data: bytes) -> bool:
        """Write the record under a unique name and rename it, which fails if its final name is taken."""
        self._system.makedirs(self._system._parent(path), exist_ok=True)  # noqa: SLF001 - fsspec's way to the folder
        self._system.makedirs(self._system._parent(temporary), exist_ok=True)  # noqa: SLF001
        with self._system.open(temporary, "wb") as stream:
            stream.write(data)
        with contextlib.suppress(FileExistsError):
            self._system.mv(temporary, path)
        if not self._present(temporary):
            return True
        self._system.rm_file(temporary)
        if not self._present(path):
            raise OSError(f"{temporary} could not be renamed to {path}")
        return False

    def read(self, name: str) -> Record:
        try:
            data = self._system.cat_file(self._path(name))
        except FileNotFoundError as error:
            raise RecordMissingError(f"There is no record {name}") from error
        except StoreError:
            raise
        except Exception as error:
            raise _refused("read", name, error) from error
        return self._records.decode(name, bytes(data), self._job_id)

    def list(self, folder: str) -> list[str]:
        place = f"{self._root}/{names.checked_folder(folder).rstrip('/')}"
        try:
            self._system.invalidate_cache()
            found = self._system.ls(place, detail=False)
        except FileNotFoundError:
            return []
        except Exception as error:
            raise _refused("listed", folder, error) from error
        return sorted(folder + entry.rstrip("/").rpartition("/")[2] for entry in found)

    def delete(self, name: str) -> None:
        path = self._path(name)
        try:
            self._system.rm_file(path)
        except FileNotFoundError:
            pass
        except Exception as error:
            raise _refused("deleted", name, error) from error

    def remove_all(self) -> None:
        try:
            if self._system.exists(self._root):
                self._system.rm(self._root, recursive=True)
        except Exception as error:
            raise _refused("removed", self._root, error) from error

    def problem_of(self, file: FileEntry) -> str | None:
        """Compare the size; what is in the file is checked when it is read."""
        try:
            path = self._path(names.FILES + file.name)
        except StoreError as error:
            return error.message
        try:
            self._system.invalidate_cache()  # a task may have written the file after the last listing
            size = self._system.size(path)
        except FileNotFoundError:
            return "it is missing"
        except Exception as error:
            raise _refused("read", file.name, error) from error
        return None if size == file.size else f"it has {size} bytes, not {file.size}"

    def _present(self, path: str) -> bool:
        self._system.invalidate_cache()  # see what other processes wrote since the last listing
        return present(self._system, path)

    def _write(self, path: str, data: bytes) -> None:
        try:
            self._system.pipe_file(path, data)
        except Exception as error:
            raise OutcomeUnknownError(f"The record {path} may not have been written: {reason_of(error)}") from error

    def _path(self, name: str) -> str:
        return f"{self._root}/{names.checked(name)}"


def _refused(what: str, name: str, error: Exception) -> StoreError:
    return StoreError(
        f"{name} could not be {what}: {reason_of(error)}", remedy="check the storage; the operation is retried."
    )
