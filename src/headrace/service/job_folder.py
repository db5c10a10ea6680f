"""The folder of one job: how the dispatcher and the job's process communicate, and what outlives both.

| file | written by | contents |
| --- | --- | --- |
| job.json | dispatcher | the submission |
| configuration.json | dispatcher | the settings of the job, for its process only |
| program/ | dispatcher | a copy of the program |
| headrace-files/ | dispatcher | files that the program brings for its functions |
| wish.json | dispatcher | the request to cancel the job |
| starts.json | dispatcher | when its process was started, and when it was found dead |
| master.lock | process | locked while the process lives |
| reached.json | process | the program has reached its execute() |
| control.json | process | the address of the process's control port |
| view.json | process | the last view of the job |
| end.json | both | how the job ended; the process writes it if it can |
| job.log | process | everything that it prints |

JSON files are replaced atomically; locks last until the process ends.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headrace.monitoring.job_view import JobView, view_from_json, view_to_json

_TRIES, _PAUSE_SECONDS = 10, 0.02


def write_json(path: Path, content: Any) -> None:
    """Replace a file atomically; only this user can read it.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.json"
    >>> write_json(file, {"a": 1})
    >>> read_json(file)
    {'a': 1}
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def read_json(path: Path) -> Any:
    """Return the content of the file; None if it does not exist."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


class FileLock:
    """A lock that at most one process holds. The system releases it when that process ends, however it ends.

    >>> import tempfile
    >>> lock = FileLock(Path(tempfile.mkdtemp()) / "lock")
    >>> lock.take(), lock.is_taken()
    (True, True)
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: int | None = None

    def take(self) -> bool:
        """Take the lock until this process ends; return False if another process holds it.

        Retries for a moment, because `is_taken` locks the file briefly too.
        """
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        for _ in range(_TRIES):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                time.sleep(_PAUSE_SECONDS)
            else:
                self._held = descriptor
                return True
        os.close(descriptor)
        return False

    def is_taken(self) -> bool:
        if self._held is not None:
            return True
        try:
            descriptor = os.open(self._path, os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(descriptor)
        return False

    def release(self) -> None:
        if self._held is not None:
            os.close(self._held)
            self._held = None


@dataclass(frozen=True)
class Submission:
    """The program of a job and how to run it."""

    job_id: str
    program: str
    """File name of the program below program/."""
    arguments: tuple[str, ...]
    entry: str | None
    submitted_ms: int


@dataclass(frozen=True)
class Control:
    """The control port of a job's process, and the secret that it requires."""

    host: str
    port: int
    secret: str
    pid: int


@dataclass(frozen=True)
class Starts:
    """When the process was started, and when it was found dead before its job had ended, in milliseconds."""

    starts: tuple[int, ...] = ()
    crashes: tuple[int, ...] = ()


@dataclass(frozen=True)
class End:
    """How the job ended."""

    status: str
    end_ms: int
    error: str | None = None


_FILES = {Submission: "job.json", Control: "control.json", Starts: "starts.json", End: "end.json"}


class JobFolder:
    """Reads and writes the files of one job."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = FileLock(path / "master.lock")

    @property
    def job_id(self) -> str:
        return self.path.name

    @property
    def log(self) -> Path:
        return self.path / "job.log"

    @property
    def configuration_file(self) -> Path:
        return self.path / "configuration.json"

    def write(self, record: Submission | Control | Starts | End) -> None:
        write_json(self.path / _FILES[type(record)], asdict(record))

    def submission(self) -> Submission | None:
        found = read_json(self.path / "job.json")
        return None if found is None else Submission(**{**found, "arguments": tuple(found["arguments"])})

    def wished_at(self) -> int | None:
        """Return when cancelling the job was requested; None if it was not."""
        found = read_json(self.path / "wish.json")
        return None if found is None else int(found["cancel"])

    def wish_cancelled(self, now: int) -> None:
        if self.wished_at() is None:
            write_json(self.path / "wish.json", {"cancel": now})

    def starts(self) -> Starts:
        found = read_json(self.path / "starts.json")
        return Starts() if found is None else Starts(tuple(found["starts"]), tuple(found["crashes"]))

    def reached(self) -> str | None:
        """Return the name of the job once the program has reached its execute()."""
        found = read_json(self.path / "reached.json")
        return None if found is None else str(found["name"])

    def write_reached(self, name: str) -> None:
        write_json(self.path / "reached.json", {"name": name})

    def control(self) -> Control | None:
        found = read_json(self.path / "control.json")
        return None if found is None else Control(**found)

    def view(self) -> JobView | None:
        found = read_json(self.path / "view.json")
        return None if found is None else view_from_json(found)

    def write_view(self, view: JobView) -> None:
        write_json(self.path / "view.json", view_to_json(view))

    def end(self) -> End | None:
        found = read_json(self.path / "end.json")
        return None if found is None else End(**found)
