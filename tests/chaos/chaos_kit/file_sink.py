"""The exactly-once sink of the crash tests: a file per subtask and epoch, staged, then linked into the committed folder.

Folders below `root`: `staged`, `committed`, `aborted`. A file is named by its handle, which no other try has; its last
line tells how many lines it has, their checksum, and how many lines its subtask has ever written. `harm` is for tests
of a sink that refuses: "what:first:times", with what = prepare, commit or answer.
"""

from __future__ import annotations

import os
import re
import zlib
from pathlib import Path
from typing import Any

from chaos_kit.once import nth_times
from headrace.checkpoint.errors import CommitRefusedError
from headrace.connectors.base.sink import Sink
from headrace.connectors.base.sink_committer import Handle, SinkCommitter
from headrace.connectors.base.sink_writer import EpochEnd, SinkWriter, WriterContext

_NAME = re.compile(r"(?P<sink>.+)-(?P<subtask>\d+)-e(?P<checkpoint>\d{10})-g(?P<generation>\d{10})-\d+\.\d+")


class FolderSink(Sink):
    def __init__(self, root: str, harm: str = "") -> None:
        self.root, self.harm = root, harm

    def open_writer(self, context: WriterContext, states: list[Any]) -> SinkWriter:
        return _Writer(Path(self.root), sum(states), self.harm)

    def open_committer(self, job_id: str, sink_id: str) -> SinkCommitter:
        return _Committer(Path(self.root), sink_id, self.harm)


class _Writer(SinkWriter):
    def __init__(self, root: Path, total: int, harm: str) -> None:
        self._folder = root / "staged"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._root, self._total, self._harm = root, total, harm
        self._lines: list[str] = []

    def write(self, values: list[Any], timestamps: list[int | None] | None) -> None:
        self._lines += values

    def end_epoch(self, end: EpochEnd) -> list[Any]:
        if not self._lines:
            return []
        if nth_times(self._root, self._harm, "prepare"):
            raise OSError("the sink takes nothing now")
        self._total += len(self._lines)
        text = "".join(f"{line}\n" for line in self._lines)
        text += f"#end {len(self._lines)} {zlib.crc32(text.encode())} {self._total}\n"
        with open(self._folder / end.handle, "x") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(self._folder)
        self._lines = []
        return [{"lines": text.count("\n")}]

    def state(self) -> int:
        return self._total


class _Committer(SinkCommitter):
    def __init__(self, root: Path, sink_id: str, harm: str) -> None:
        self._root, self._sink, self._harm = root, sink_id, harm
        for name in ("staged", "committed", "aborted"):
            (root / name).mkdir(parents=True, exist_ok=True)

    def commit(self, handle: Handle) -> None:
        staged, committed = self._root / "staged" / handle.id, self._root / "committed" / handle.id
        if nth_times(self._root, self._harm, "commit"):
            raise OSError("the sink commits nothing now")
        try:
            os.link(staged, committed)
        except FileExistsError:
            pass
        except FileNotFoundError:
            if not committed.exists():
                raise CommitRefusedError("There is nothing to commit", seen=handle.id) from None
        sync_folder(committed.parent)
        staged.unlink(missing_ok=True)
        if nth_times(self._root, self._harm, "answer"):
            raise OSError("the answer to a commit got lost")

    def abort(self, handle: Handle) -> bool:
        try:
            os.rename(self._root / "staged" / handle.id, self._root / "aborted" / handle.id)
        except FileNotFoundError:
            pass
        return not (self._root / "committed" / handle.id).exists()

    def staged(self) -> list[Handle]:
        return self._handles("staged")

    def untouched(self, checkpoint: int) -> bool:
        return all(handle.checkpoint != checkpoint for handle in self._handles("committed"))

    def _handles(self, folder: str) -> list[Handle]:
        found = (_NAME.fullmatch(name) for name in sorted(os.listdir(self._root / folder)))
        return [
            Handle(m[0], int(m["subtask"]), int(m["checkpoint"]), int(m["generation"]))
            for m in found
            if m is not None and m["sink"] == self._sink
        ]


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
