"""A job on real files that a test kills at a fault point: `python killed_job.py`.

One task sums numbers and hands them to a file sink, which prepares in one folder and commits by renaming into another.
Each process is a driver with the production code for checkpoints: it recovers and works to the end of the input.

For each line `ROOT RECORDS [FAULT]` on standard input, forks such a process and writes a line with its return code.
"""

from __future__ import annotations

import os
import re
import sys
import time
import traceback
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from headrace.checkpoint import names
from headrace.checkpoint.driver import FINISHED, Checkpoints
from headrace.checkpoint.manifests import files_of, unpacked_positions
from headrace.checkpoint.model import Committable
from headrace.config.checkpoint_settings import CheckpointSettings, DurabilitySettings
from headrace.connectors.base.sink_committer import Handle, SinkCommitter, StagedOutputLostError
from headrace.connectors.base.split_enumerator import Split
from headrace.foundation.faultpoints import arm, reach
from headrace.graph.specs import StagedSink
from headrace.operators.source import SplitPosition
from headrace.state.file_format import OperatorState, SubtaskState
from headrace.state.files import StateFile, StateHeader, make_durable, read_state_file, write_state_file
from headrace.worker.messages import CheckpointOrder, TaskAck, VertexReport

PER_EPOCH = 3
JOB = "job"
SETTINGS = CheckpointSettings(interval=1)


class FileSink(SinkCommitter):
    def __init__(self, root: Path) -> None:
        self._staged, self.visible = root / "staged", root / "visible"
        self._staged.mkdir(exist_ok=True)
        self.visible.mkdir(exist_ok=True)

    def open_committer(self, job_id: str, sink_id: str) -> FileSink:
        return self

    def prepare(self, handle: Handle, text: str) -> None:
        reach("precommit.pre")
        with (self._staged / handle.id).open("w") as stream:
            stream.write(text[: len(text) // 2])
            stream.flush()
            reach("precommit.mid")
            stream.write(text[len(text) // 2 :])
            stream.flush()
            os.fsync(stream.fileno())
        reach("precommit.post")

    def commit(self, handle: Handle) -> None:
        if (self.visible / handle.id).exists():
            return
        try:
            os.rename(self._staged / handle.id, self.visible / handle.id)
        except FileNotFoundError as error:
            raise StagedOutputLostError("There is nothing to commit", seen=handle.id) from error

    def abort(self, handle: Handle) -> bool:
        (self._staged / handle.id).unlink(missing_ok=True)
        return not (self.visible / handle.id).exists()

    def staged(self) -> list[Handle]:
        return [_handle(name) for name in sorted(os.listdir(self._staged))]

    def untouched(self, checkpoint: int) -> bool:
        return all(_handle(name).checkpoint != checkpoint for name in os.listdir(self.visible))


def _handle(name: str) -> Handle:
    match = re.fullmatch(r"e(\d+)-g(\d+)-(\d)-.+", name)
    assert match is not None
    return Handle(name, int(match[3]), int(match[1]), int(match[2]))


class Progress:
    """Satisfies `headrace.checkpoint.ports.JobProgress`."""

    tasks = (("v", 0),)

    def __init__(self, offset: int = 0, total: int = 0) -> None:
        self.offset, self.total = offset, total
        self.files: dict[tuple[str, int], tuple[StateFile, ...]] = {}
        self.handles: list[Committable] = []

    @property
    def positions(self) -> dict[str, list[SplitPosition]]:
        return {"v": [SplitPosition(Split("s", None), self.offset)]}

    def watermark(self) -> int:
        return 0

    def take_handles(self) -> list[Committable]:
        handles, self.handles = self.handles, []
        return handles

    def give_back(self, handles: list[Committable]) -> None:
        self.handles = [*handles, *self.handles]


def run_task(progress: Progress, sink: FileSink, order: CheckpointOrder, files: str, end: int) -> TaskAck:
    progress.total += sum(range(progress.offset, end))
    attempt = f"g{order.generation:010d}-{os.getpid()}.{end}"
    header = StateHeader(JOB, "v", 0, order.number, attempt, kind="base")
    state = SubtaskState({"sum": OperatorState(plain={"total": progress.total})})
    reach("state.pre")
    file = write_state_file(files, header, state, inside=lambda: reach("state.torn"))
    make_durable(files, [file.name])
    reach("state.post")
    middle = (progress.offset + end) // 2
    handles = []
    for part, (a, b) in enumerate(((progress.offset, middle), (middle, end))):
        handles.append(_handle(f"e{order.number}-g{order.generation}-{part}-{os.getpid()}.{end}"))
        sink.prepare(handles[-1], "".join(f"{n}\n" for n in range(a, b)))
        if part == 0:
            reach("acks.partial")
    progress.files["v", 0] = (file,)
    progress.handles += [Committable("sink", handle) for handle in handles]
    progress.offset = end
    report = VertexReport("v", 0, 0, 0, 0, False, None, False, 0.0, handles={"sink": handles})
    return TaskAck((0, 0), order.number, end, {}, file, True, (report,))


def main(root: Path, records: int) -> None:
    sink = FileSink(root)
    node = SimpleNamespace(spec=StagedSink(sink), operator_id="sink", name="sink", uid="sink")
    vertex = SimpleNamespace(id="v", nodes=[node], head=node, parallelism=1)
    graph: Any = SimpleNamespace(vertices={"v": vertex}, edges=())
    plan: Any = SimpleNamespace(levels=())
    options = DurabilitySettings(SETTINGS, directory=str(root), job_id=JOB, trust=True)
    checkpoints = Checkpoints(JOB, str(root / "checkpoints"), options, graph, plan, lambda: int(time.time() * 1000))
    base = checkpoints.recover()
    finished = base is not None and FINISHED in base.facts
    progress = Progress()
    if base is not None and not finished:
        file = files_of(base)[0]
        state = read_state_file(checkpoints.files, file, {"job_id": JOB})
        progress = Progress(unpacked_positions(base)["v"][0].position, state.operators["sum"].plain["total"])
        progress.files["v", 0] = (file,)
    assert progress.total == sum(range(progress.offset)), f"state {progress.total} at offset {progress.offset}"
    while not finished and progress.offset < records:
        while not (order := checkpoints.order(progress)).now:
            time.sleep(0.001)  # the interval
        ack = run_task(progress, sink, order, checkpoints.files, min(progress.offset + PER_EPOCH, records))
        assert checkpoints.complete(progress, [ack]) is not None, checkpoints.problem
    if not finished:
        checkpoints.finish(progress)
    checkpoints.tidy()
    checkpoints.close()
    assert os.listdir(checkpoints.files) == []
    assert os.listdir(root / "checkpoints" / names.TEMPORARIES) == []
    assert sink.staged() == []


def live(root: str, records: str, *fault: str) -> int:
    """Run one driver process to its end; return its return code, negative for a signal."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        if fault:
            arm(fault[0])
        main(Path(root), int(records))
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


if __name__ == "__main__":
    for line in sys.stdin:
        print(live(*line.split()), flush=True)
