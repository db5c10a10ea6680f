"""State files on disk: one per subtask and epoch.

Decides names, and the order of a write: temporary name, content, rename; fsync if a checkpoint relies on the file. Never
decides which files count: the driver keeps their names, sizes and checksums, and passes them on restore.
``headrace.state.file_format`` defines the bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from headrace.errors import StateError
from headrace.foundation import private_folders
from headrace.foundation.private_folders import owner_only
from headrace.state.file_format import (
    OperatorState,
    StateHeader,
    SubtaskState,
    Wanted,
    checksum_in,
    decode,
    encode,
    verify,
)

__all__ = [
    "StateFile",
    "StateHeader",
    "file_name",
    "make_durable",
    "problem_of",
    "read_parts",
    "read_state_file",
    "since_last_base",
    "write_state_file",
]

_WHOLE = 4 << 20  # a file up to this size is read at once


@dataclass(frozen=True)
class StateFile:
    """What the driver remembers of a written file.

    >>> StateFile("v1-0-e0000000003-a0.delta", 120, 77).name
    'v1-0-e0000000003-a0.delta'
    """

    name: str
    size: int
    checksum: int


def file_name(header: StateHeader) -> str:
    """Return the file's name; it is unique for each attempt.

    >>> file_name(StateHeader("job", "v1", 0, 3, "a0"))
    'v1-0-e0000000003-a0.delta'
    """
    vertex, attempt = quote(header.vertex_id, safe=""), quote(header.attempt, safe="")
    return f"{vertex}-{header.subtask}-e{header.epoch:010d}-{attempt}.{header.kind}"


def write_state_file(
    directory: str | os.PathLike[str],
    header: StateHeader,
    state: SubtaskState,
    inside: Callable[[], None] | None = None,
) -> StateFile:
    """Write one file. Return what the driver must remember of it; `make_durable` may follow later.

    1. write under a temporary name (`inside` is called when a part has been written), 2. rename.

    >>> import tempfile
    >>> from headrace.state.file_format import OperatorState
    >>> header = StateHeader("job", "v1", 0, 3, "a0")
    >>> state = SubtaskState({"count": OperatorState({"n": {7: [("a", 1)]}})})
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     file = write_state_file(directory, header, state)
    ...     read_state_file(directory, file, {"job_id": "job"}) == state
    True
    """
    name = file_name(header)
    final = Path(directory, name)
    temporary = Path(directory, f".{name}.tmp")
    try:
        with open(temporary, "wb", opener=owner_only) as stream:  # 1
            for number, part in enumerate(encode(header, state)):
                stream.write(part)
                if number == 0 and inside is not None:
                    stream.flush()
                    inside()
            size, checksum = stream.tell(), checksum_in(part)
        temporary.replace(final)  # 2
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return StateFile(name, size, checksum)


def make_durable(directory: str | os.PathLike[str], names: Iterable[str]) -> None:
    """Make written files survive a crash of the machine: fsync each, then the directory."""
    paths = [os.path.join(directory, name) for name in names]
    for path in [*paths, os.fspath(directory)]:
        private_folders.make_durable(path)


def read_state_file(
    directory: str | os.PathLike[str],
    state_file: StateFile,
    expected_header_fields: Mapping[str, Any],
    key_groups: range | None = None,
    *,
    allowed_modules: Collection[str] | None = (),
    trust_job_code: bool = False,
) -> SubtaskState:
    """Read one file: the keyed state of ``key_groups`` (``None``: all) and all plain state. See :func:`read_parts`."""
    parts = read_parts(
        directory,
        [state_file],
        expected_header_fields,
        key_groups,
        allowed_modules=allowed_modules,
        trust_job_code=trust_job_code,
    )
    state = SubtaskState()
    for uid, part in parts:
        operator = state.operators.setdefault(uid, OperatorState())
        operator.plain.update(part.plain)
        for name, by_group in part.keyed.items():
            groups = operator.keyed.setdefault(name, {})
            for group, entries in by_group.items():
                groups.setdefault(group, []).extend(entries)
    return state


def read_parts(
    directory: str | os.PathLike[str],
    state_files: Sequence[StateFile],
    expected_header_fields: Mapping[str, Any],
    key_groups: range | None = None,
    *,
    allowed_modules: Collection[str] | None = (),
    trust_job_code: bool = False,
    wanted: Wanted | None = None,
) -> Iterator[tuple[str, OperatorState]]:
    """Read the files of one subtask, oldest first, part by part: ``(uid, part of the operator's state)``. Later ones win.

    This restores state that is larger than memory. Files before the last base are not read, nor are blocks for which
    ``wanted(uid, state name or None for plain state)`` is false.

    A file that is missing, damaged, truncated, of another job, vertex or attempt, or that contains classes that are not
    allowed, raises ``StateError`` with its name and the reason. ``allowed_modules=None`` allows all classes: only for
    files that the running job has written itself.
    """
    for state_file in since_last_base(state_files):
        if state_file.name != os.path.basename(state_file.name):
            raise StateError("The name of a state file must not contain a path", seen=state_file.name)
        try:
            with Path(directory, state_file.name).open("rb") as stream:
                yield from decode(
                    _checked_size(stream, state_file),
                    _reader(stream, whole=wanted is None and state_file.size <= _WHOLE),
                    checksum=state_file.checksum,
                    expected=dict(expected_header_fields),
                    key_groups=key_groups,
                    allowed_modules=allowed_modules,
                    trust_job_code=trust_job_code,
                    wanted=wanted,
                )
        except GeneratorExit:
            raise
        except Exception as error:  # the file may contain anything; every error must name it
            raise StateError(
                f"The state file {state_file.name} in {os.fspath(directory)} cannot be used: {_reason(error)}",
                expected=getattr(error, "expected", None),
                remedy=getattr(error, "remedy", None) or "restore from an older checkpoint or savepoint",
            ) from error


def since_last_base(state_files: Sequence[StateFile]) -> Sequence[StateFile]:
    """Return the files that count: the last base and the deltas after it.

    >>> [f.name for f in since_last_base([StateFile(n, 1, 1) for n in ("a.delta", "b.base", "c.delta")])]
    ['b.base', 'c.delta']
    """
    bases = [position for position, file in enumerate(state_files) if file.name.endswith(".base")]
    return state_files[bases[-1] if bases else 0 :]


def _checked_size(stream: BinaryIO, state_file: StateFile) -> int:
    size = os.fstat(stream.fileno()).st_size
    if size != state_file.size:
        raise StateError(f"it has {size} bytes, not {state_file.size}")
    return size


def _reader(stream: BinaryIO, whole: bool) -> Callable[[int, int], bytes]:
    contents = stream.read() if whole else b""

    def read_at(offset: int, length: int) -> bytes:
        if contents:
            return contents[offset : offset + length]
        stream.seek(offset)
        return stream.read(length)

    return read_at


def problem_of(path: Path, state_file: StateFile, job_id: str | None = None) -> str | None:
    """Return what is wrong with a file that should be ``state_file``, or None. Raise OSError if it cannot be checked."""
    with path.open("rb") as stream:
        try:
            size = _checked_size(stream, state_file)
            header = verify(size, _reader(stream, whole=False), checksum=state_file.checksum)
        except (StateError, ValueError, KeyError, TypeError) as error:
            return _reason(error)
    if job_id is not None and header.job_id != job_id:
        return f"it is foreign: its job_id is {header.job_id!r}, not {job_id!r}"
    if file_name(header) != state_file.name:
        return f"it is another file: it says that it is {file_name(header)}"
    return None


def _reason(error: Exception) -> str:
    if isinstance(error, StateError):
        return error.message
    return str(error) if isinstance(error, OSError) else f"its contents make no sense: {error!r}"
