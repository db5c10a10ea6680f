"""A store on local files, or on any mounted file system with hard links and fsync.

Decides how a record is created; `headrace.checkpoint.record_format` decides its bytes. Never replaces a file:

1. write the record under a temporary name that nobody else has, 2. fsync it, 3. link it to its name: this fails if the
name is taken, and of several links one wins, 4. fsync the folder, 5. remove the temporary name.

A crash before 3 leaves a temporary file, which is collected. A crash between 3 and 4 leaves a record that others can
see and that a crash of the machine could still remove: a driver calls `settle` before it acts on what it sees.
"""

from __future__ import annotations

import logging
import os
import shutil
import uuid
import zlib
from collections.abc import Callable
from pathlib import Path

from headrace.checkpoint import names
from headrace.checkpoint.errors import OutcomeUnknownError, RecordMissingError, StoreError
from headrace.checkpoint.model import FileEntry, Record
from headrace.checkpoint.signatures import SignedRecords
from headrace.foundation.private_folders import make_durable, make_folders, owner_only

_CHUNK = 1 << 20
_log = logging.getLogger("headrace")


class FileStore:
    """Records of one job below `root`.

    `check_file` returns what is wrong with a state file; the default compares size and CRC-32 of the whole file.
    `records` decides whose manifests are trusted; the default trusts this user's.

    >>> import tempfile
    >>> from headrace.checkpoint.model import Marker
    >>> with tempfile.TemporaryDirectory() as root:
    ...     store = FileStore(root, "job")
    ...     marker = Marker("job", 1, 7, "a")
    ...     store.create("markers/0000000007", marker), store.create("markers/0000000007", marker)
    ...     store.read("markers/0000000007") == marker
    (True, False)
    True
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        job_id: str,
        check_file: Callable[[Path, FileEntry], str | None] | None = None,
        records: SignedRecords | None = None,
    ) -> None:
        self._root = Path(root)
        self._job_id = job_id
        self._check_file = check_file or whole_file_problem
        self._records = records or SignedRecords()
        try:
            for folder in names.FOLDERS:
                make_folders(self._root / folder)
            make_durable(self._root)
            make_durable(self._root.parent)
        except OSError as error:
            raise _refused("prepared", str(self._root), error) from error

    @property
    def files(self) -> Path:
        """The folder that tasks write their state files in."""
        return self._root / names.FILES

    def settle(self) -> None:
        try:
            for folder in names.FOLDERS:
                make_durable(self._root / folder)
        except OSError as error:
            raise _refused("made durable", str(self._root), error) from error

    def create(self, name: str, record: Record, inside: Callable[[], None] | None = None) -> bool:
        data = self._records.encode(record)
        final = self._path(name)
        temporary = self._path(names.temporary_name(record.generation, uuid.uuid4().hex))
        try:
            try:
                _write(temporary, data, inside)  # 1, 2
                created = _link(temporary, final)  # 3
            except OSError as error:
                raise _refused("created", name, error) from error
            try:
                make_durable(final.parent)  # 4; also for the record of another driver: the caller will act on it
            except OSError as error:
                raise OutcomeUnknownError(f"The record {name} may not be durable: {error}") from error
            return created
        finally:
            try:
                temporary.unlink(missing_ok=True)  # 5
            except OSError as error:
                _log.debug("headrace: %s stays until the next garbage collection: %s", temporary, error)

    def read(self, name: str) -> Record:
        try:
            descriptor = os.open(self._path(name), os.O_RDONLY | os.O_NOFOLLOW)
            with open(descriptor, "rb") as stream:
                data = stream.read()
        except FileNotFoundError as error:
            raise RecordMissingError(f"There is no record {name}") from error
        except OSError as error:
            raise _refused("read", name, error) from error
        return self._records.decode(name, data, self._job_id)

    def list(self, folder: str) -> list[str]:
        try:
            return sorted(folder + entry for entry in os.listdir(self._root / names.checked_folder(folder)))
        except OSError as error:
            raise _refused("listed", folder, error) from error

    def delete(self, name: str) -> None:
        try:
            self._path(name).unlink(missing_ok=True)
        except OSError as error:
            raise _refused("deleted", name, error) from error

    def remove_all(self) -> None:
        shutil.rmtree(self._root, ignore_errors=True)  # as much as possible
        if self._root.exists():
            _log.warning("headrace: not all files in %s could be removed", self._root)

    def problem_of(self, file: FileEntry) -> str | None:
        try:
            path = self._path(names.FILES + file.name)
        except StoreError as error:
            return error.message
        try:
            return self._check_file(path, file)
        except FileNotFoundError:
            return "it is missing"
        except OSError as error:
            raise _refused("read", file.name, error) from error

    def _path(self, name: str) -> Path:
        return self._root / names.checked(name)


def whole_file_problem(path: Path, file: FileEntry) -> str | None:
    """Compare size and CRC-32 of a whole file with what was recorded.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "x")
    ...     _ = path.write_bytes(b"abc")
    ...     whole_file_problem(path, FileEntry("v/0", "x", 3, zlib.crc32(b"abc")))
    ...     whole_file_problem(path, FileEntry("v/0", "x", 4, 0))
    'it has 3 bytes, not 4'
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with open(descriptor, "rb") as stream:
        size = os.fstat(descriptor).st_size
        if size != file.size:
            return f"it has {size} bytes, not {file.size}"
        checksum = 0
        while chunk := stream.read(_CHUNK):
            checksum = zlib.crc32(chunk, checksum)
    return None if checksum == file.checksum else f"its checksum is {checksum}, not {file.checksum}"


def _write(path: Path, data: bytes, inside: Callable[[], None] | None) -> None:
    with open(path, "xb", opener=owner_only) as stream:
        half = len(data) // 2
        stream.write(data[:half])
        if inside is not None:
            stream.flush()
            inside()
        stream.write(data[half:])
        stream.flush()
        os.fsync(stream.fileno())


def _link(temporary: Path, final: Path) -> bool:
    """Link. The number of links tells the outcome: over NFS, a repeated request can find its own result."""
    try:
        os.link(temporary, final)
    except OSError as error:
        if os.stat(temporary).st_nlink > 1:
            return True
        if isinstance(error, FileExistsError):
            return False
        raise
    return True


def _refused(what: str, name: str, error: OSError) -> StoreError:
    return StoreError(
        f"{name} could not be {what}: {error.strerror or error}", remedy="check the storage; the operation is retried."
    )
