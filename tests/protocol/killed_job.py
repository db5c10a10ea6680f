"""A job on real files that a test kills at a fault point: `python killed_job.py ROOT ATTEMPT RECORDS`.

One task sums numbers and hands them to a file sink, which prepares in one folder and commits by renaming into another.
Each process is a driver: it recovers and works to the end of the input.
"""

from __future__ import annotations

import os
import re
import sys
import zlib
from pathlib import Path

from headrace.checkpoint import names
from headrace.checkpoint.errors import CommitRefusedError
from headrace.checkpoint.file_store import FileStore
from headrace.checkpoint.interpreter import Interpreter
from headrace.checkpoint.model import Committable, FileEntry, Manifest, Plan
from headrace.checkpoint.workflow import Workflow
from headrace.foundation.faultpoints import reach

PER_EPOCH = 3


class FileSink:
    def __init__(self, root: Path) -> None:
        self._staged, self.visible = root / "staged", root / "visible"
        self._staged.mkdir(exist_ok=True)
        self.visible.mkdir(exist_ok=True)

    def prepare(self, handle: Committable, text: str) -> None:
        reach("precommit.pre")
        with (self._staged / handle.id).open("w") as stream:
            stream.write(text[: len(text) // 2])
            stream.flush()
            reach("precommit.mid")
            stream.write(text[len(text) // 2 :])
            stream.flush()
            os.fsync(stream.fileno())
        reach("precommit.post")

    def commit(self, handle: Committable) -> None:
        if (self.visible / handle.id).exists():
            return
        try:
            os.rename(self._staged / handle.id, self.visible / handle.id)
        except FileNotFoundError as error:
            raise CommitRefusedError("There is nothing to commit", seen=handle.id) from error

    def abort(self, handle: Committable) -> bool:
        (self._staged / handle.id).unlink(missing_ok=True)
        return not (self.visible / handle.id).exists()

    def staged(self) -> list[Committable]:
        return [_handle(name) for name in sorted(os.listdir(self._staged))]

    def untouched(self, epoch: int) -> bool:
        return all(_handle(name).epoch != epoch for name in os.listdir(self.visible))

    def publish(self, manifest: Manifest) -> None:
        return None


def _handle(name: str) -> Committable:
    match = re.fullmatch(r"e(\d+)-g(\d+)-(\d)-.+", name)
    assert match is not None
    return Committable("sink", int(match[3]), int(match[2]), int(match[1]), name)


def run_task(store: FileStore, sink: FileSink, plan: Plan, start: int, end: int, total: int) -> tuple[FileEntry, int]:
    total += sum(range(start, end))
    name = f"v-0-e{plan.epoch:010d}-g{plan.generation:010d}-{plan.attempt}"
    data = str(total).encode()
    reach("state.pre")
    temporary = store.files / f".{name}"
    with temporary.open("wb") as stream:
        stream.write(data[:1])
        stream.flush()
        reach("state.torn")
        stream.write(data[1:])
        stream.flush()
        os.fsync(stream.fileno())
    temporary.rename(store.files / name)
    reach("state.post")
    return FileEntry("v/0", name, len(data), zlib.crc32(data)), total


def main(root: Path, attempt: str, records: int) -> None:
    store, sink = FileStore(root / "checkpoints", "job"), FileSink(root)
    driver, workflow = Interpreter(store, sink, sink), Workflow("job", attempt)
    driver.run(workflow.recover())
    base = workflow.base
    offset = base.positions["s"] if base is not None else 0
    total = int((store.files / base.files[0].name).read_bytes()) if base is not None else 0
    assert total == sum(range(offset)), f"state {total} at offset {offset}"
    while offset < records:
        plan = driver.run(workflow.plan({"s": offset}))
        end = min(offset + PER_EPOCH, records)
        file, total = run_task(store, sink, plan, offset, end, total)
        middle = (offset + end) // 2
        handles = []
        for part, (a, b) in enumerate(((offset, middle), (middle, end))):
            handle = _handle(f"e{plan.epoch}-g{plan.generation}-{part}-{plan.attempt}")
            sink.prepare(handle, "".join(f"{n}\n" for n in range(a, b)))
            handles.append(handle)
            reach("acks.partial" if part == 0 else "acks.full")
        driver.run(workflow.complete(workflow.manifest(plan, [file], handles, {"s": end})))
        offset = end
    driver.run(workflow.collect())
    left = [n for n in store.list(names.FILES) if not n.startswith(names.FILES + ".")]
    assert len(left) == 1, left
    assert sink.staged() == []


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
