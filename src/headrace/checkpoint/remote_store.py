"""A store on any file system that fsspec knows: s3, gs, abfs, hdfs, memory and so on.

Object stores make an object appear whole, and durably, or not at all. Create-if-absent is fsspec's mode "create": a
conditional request where the store has one. Where it has none, two drivers that start at the same instant could both win;
`create` then reads back what is there and gives the answer by whose record it is.
"""

from __future__ import annotations

from collections.abc import Callable

from headrace.checkpoint import names
from headrace.checkpoint.errors import OutcomeUnknownError, RecordMissingError, StoreError
from headrace.checkpoint.model import FileEntry, Record
from headrace.checkpoint.signed_records import SignedRecords
from headrace.state.storage import file_system

__all__ = ["RemoteStore"]

_FOLDERS = (names.GENERATIONS, names.PLANS, names.SLOTS, names.MARKERS, names.FILES, names.TEMPORARIES)


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
        """Nothing is made until the first record is. `records` says whose manifests are trusted; see `FileStore`."""
        self._system, self._root = file_system(url)
        self._job_id = job_id
        self._records = records or SignedRecords()

    def settle(self) -> None:
        """Nothing to do: what is visible in an object store is durable."""

    def create(self, name: str, record: Record, inside: Callable[[], None] | None = None) -> bool:
        data = self._records.encode(record)
        if inside is not None:
            inside()
        path = self._path(name)
        try:
            if self._system.exists(path):
                return False
            self._system.pipe_file(path, data, mode="create")
        except FileExistsError:
            return False
        except NotImplementedError:
            self._write(path, data)
        except OSError as error:
            raise OutcomeUnknownError(f"The record {name} may not have been written: {error}") from error
        return True

    def read(self, name: str) -> Record:
        try:
            data = self._system.cat_file(self._path(name))
        except FileNotFoundError as error:
            raise RecordMissingError(f"There is no record {name}") from error
        except OSError as error:
            raise _refused("read", name, error) from error
        return self._records.decode(name, bytes(data), self._job_id)

    def list(self, folder: str) -> list[str]:
        self._check(folder)
        place = f"{self._root}/{folder.rstrip('/')}"
        try:
            self._system.invalidate_cache(place)
            found = self._system.ls(place, detail=False)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _refused("listed", folder, error) from error
        return sorted(folder + entry.rstrip("/").rpartition("/")[2] for entry in found)

    def delete(self, name: str) -> None:
        try:
            self._system.rm_file(self._path(name))
        except FileNotFoundError:
            pass
        except OSError as error:
            raise _refused("deleted", name, error) from error

    def problem_of(self, file: FileEntry) -> str | None:
        """Compare the size; what is in the file is checked when it is read."""
        try:
            size = self._system.size(self._path(names.FILES + file.name))
        except FileNotFoundError:
            return "it is missing"
        except StoreError as error:
            return error.message
        except OSError as error:
            raise _refused("read", file.name, error) from error
        return None if size == file.size else f"it has {size} bytes, not {file.size}"

    def _write(self, path: str, data: bytes) -> None:
        try:
            self._system.pipe_file(path, data)
        except OSError as error:
            raise OutcomeUnknownError(f"The record {path} may not have been written: {error}") from error

    def _path(self, name: str) -> str:
        folder, slash, last = name.partition("/")
        self._check(folder + slash)
        if last in ("", ".", "..") or "/" in last or "\0" in last:
            raise StoreError("A record or file is named by one folder and a plain name", seen=name)
        return f"{self._root}/{folder}/{last}"

    @staticmethod
    def _check(folder: str) -> None:
        if folder not in _FOLDERS:
            raise StoreError("A store has no such folder", seen=folder)


def _refused(what: str, name: str, error: OSError) -> StoreError:
    return StoreError(f"{name} could not be {what}: {error}", remedy="see to the storage; it is retried.")
