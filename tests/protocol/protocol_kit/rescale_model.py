"""Rescale schedules: the production driver on the local executor, with requests and faults at chosen epoch boundaries.

A schedule is a text such as `R3.R1/E/F/R2`: the parts between slashes are the boundaries, the first one is before the
first epoch. The events of a boundary arrive back to back:

    R3  ask for parallelism 3              F  the next epoch runs and then fails
    S   take a savepoint                   X  the next start of an executor fails
    C   make a checkpoint                  Z  the next completion of a checkpoint finds the storage full
    K   stop with a savepoint, start again from it with the rest of the schedule
    E   nothing, only an epoch

The job counts records for each key, and keeps all values in split and in union list state. When it has ended, each
count must have come once, both list states must hold each value, and each request must have one answer.
"""

from __future__ import annotations

import contextlib
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

from headrace import submission
from headrace.checkpoint.driver_steps import DriverSteps
from headrace.checkpoint.errors import StoreError
from headrace.common import Configuration, Types, WatermarkStrategy
from headrace.common.errors import HeadraceError, JobExecutionError
from headrace.datastream import KeyedProcessFunction, MapFunction, StreamExecutionEnvironment
from headrace.datastream.connectors.number_seq import NumberSequenceSource
from headrace.datastream.functions import CheckpointedFunction
from headrace.datastream.state import ListStateDescriptor, ValueStateDescriptor
from headrace.driver.executor import EpochResult
from headrace.driver.job_master import JobMaster
from headrace.driver.requests import Request
from headrace.local.executor import LocalExecutor

KEYS = 7
RECORDS = 90
PER_EPOCH = 5
HELD: dict[str, dict[int, list[int]]] = {"split": {}, "union": {}}
"""What the subtasks of the last cut held when they were closed. The local executor runs them in this process."""


class Holding(MapFunction, CheckpointedFunction):
    """Keeps every value in attributes, which become list state."""

    def initialize_state(self, context: Any) -> None:
        store = context.get_operator_state_store()
        self.split = store.get_list_state(ListStateDescriptor("split", Types.LONG()))
        self.union = store.get_union_list_state(ListStateDescriptor("union", Types.LONG()))
        self.held, self.known = list(self.split.get()), sorted(set(self.union.get()))
        self.own = self.known if context.is_restored() else []

    def open(self, runtime_context: Any) -> None:
        self.index = runtime_context.get_index_of_this_subtask()
        wide = runtime_context.get_number_of_parallel_subtasks()
        for held in HELD.values():
            for index in [i for i in held if i == self.index or i >= wide]:
                del held[index]

    def snapshot_state(self, context: Any) -> None:
        self.split.update(self.held)
        self.union.update(self.own)

    def map(self, value: int) -> int:
        self.held.append(value)
        self.own = [*self.own, value]
        return value

    def close(self) -> None:
        HELD["split"][self.index], HELD["union"][self.index] = self.held, self.own


class Count(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        yield value % KEYS, self.count.value()


def expected() -> Counter[tuple[int, int]]:
    sizes = Counter(v % KEYS for v in range(RECORDS))
    return Counter((key, n) for key, size in sizes.items() for n in range(1, size + 1))


@dataclass
class Script:
    """The events that are still to come; shared by the master and the executor of one life."""

    boundaries: list[list[str]]
    folder: Path
    asked: list[tuple[str, Request]] = field(default_factory=list)
    failing: bool = False
    broken_starts: int = 0
    full: int = 0

    def play(self, master: JobMaster) -> None:
        """Let the events of the next boundary happen; none while the job is being stopped."""
        if any(event == "K" and request.error is None for event, request in self.asked):
            return
        events = self.boundaries.pop(0) if self.boundaries else []
        for place, event in enumerate(events):
            if event == "F":
                self.failing = True
            elif event == "X":
                self.broken_starts += 1
            elif event == "Z":
                self.full += 1
            elif event != "E":
                request = self._request(event)
                self.asked.append((event, request))
                with contextlib.suppress(JobExecutionError):  # the job has ended
                    master._parts.requests.post(request)
            if event == "K":  # the rest is for the job that is restored
                self.boundaries.insert(0, events[place + 1 :])
                return

    def _request(self, event: str) -> Request:
        if event == "C":
            return Request(checkpoint=True)
        if event in "SK":
            return Request(savepoint=True, directory=str(self.folder / "savepoints"), stop=event == "K")
        return Request(parallelism=int(event[1:]))


class Executor(LocalExecutor):
    """Plays the script after each epoch; its epochs and starts fail when the script says so."""

    master: JobMaster
    script: Script

    def start(self, spec: Any) -> None:
        if hasattr(self, "script") and self.script.broken_starts:
            self.script.broken_starts -= 1
            raise OSError("no executor can be had")
        super().start(spec)

    def run_epoch(self, order: Any) -> EpochResult:
        result = super().run_epoch(order)
        self.script.play(self.master)
        if self.script.failing:
            self.script.failing = False
            raise JobExecutionError("the epoch failed")
        return result


def run(
    schedule: str,
    folder: Path,
    interval: str | None = "1 ms",
    backend: str = "hashmap",
    answers: list[tuple[str, str]] | None = None,
) -> list[str]:
    """Run a schedule; say what is wrong. `answers` gets each request with its answer: "done", or why not."""
    boundaries = [part.split(".") for part in schedule.split("/")]
    rows: Counter[Any] = Counter()
    problems: list[str] = []
    restored = None
    for _ in range(len(schedule) + 2):
        script = Script(boundaries, folder)
        got = _live(script, interval, backend, restored)
        rows += got
        boundaries = script.boundaries
        problems += _unanswered(script)
        if answers is not None:
            answers += [(event, str(r.error) if r.error is not None else "done") for event, r in script.asked]
        stopped = [r.answer for event, r in script.asked if event == "K" and r.answer is not None]
        if not stopped:
            break
        restored = stopped[0]
    lost, more = expected() - rows, rows - expected()
    if lost or more:
        problems.append(f"{sum(lost.values())} lost, {sum(more.values())} too many")
    if sorted(v for held in HELD["split"].values() for v in held) != list(range(RECORDS)):
        problems.append("the split list state does not hold each value once")
    if {v for held in HELD["union"].values() for v in held} != set(range(RECORDS)):
        problems.append("the union list state does not hold all values")
    return problems


def _unanswered(script: Script) -> list[str]:
    """Requests without an answer, and refusals without a reason of their own."""
    found = [f"{event} has no answer" for event, request in script.asked if not request.done.is_set()]
    for event, request in script.asked:
        if request.error is not None and not isinstance(request.error, HeadraceError):
            found.append(f"{event} was refused with {request.error!r}")
    return found


def _live(script: Script, interval: str | None, backend: str, restored: str | None) -> Counter[Any]:
    configuration = Configuration()
    settings = {
        "headrace.executor": "local",
        "headrace.progress": "off",
        "headrace.epoch.first-records": str(PER_EPOCH),
        "headrace.epoch.max-records": str(PER_EPOCH),
        "headrace.state.directory": str(script.folder),
        "state.backend.type": backend,
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "50",
        "restart-strategy.fixed-delay.delay": "1 ms",
    }
    if interval is not None:
        settings |= {"execution.checkpointing.interval": interval}
        settings |= {"execution.checkpointing.tolerable-failed-checkpoints": "9"}
    if restored is not None:
        settings |= {"execution.state-recovery.path": restored}
    for key, value in settings.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2).set_max_parallelism(16)
    numbers = NumberSequenceSource(0, RECORDS - 1)
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    held = stream.map(Holding(), Types.LONG()).uid("holding")
    counted = held.key_by(lambda v: v % KEYS).process(Count()).uid("count")
    executor = Executor()

    class Master(JobMaster):
        def start(self) -> None:
            executor.master, executor.script = self, script
            script.play(self)
            super().start()

    conclude = DriverSteps._conclude

    def conclude_or_not(self: DriverSteps, *arguments: Any, **options: Any) -> Any:
        if not script.full:
            return (yield from conclude(self, *arguments, **options))
        script.full -= 1

        def refuse(manifest: Any) -> Any:
            raise StoreError("full")
            yield

        with patch.object(self.workflow, "decide_epoch", refuse):
            return (yield from conclude(self, *arguments, **options))

    with (
        patch.object(submission, "JobMaster", Master),
        patch.object(submission, "_executor", lambda options, spark: executor),
        patch.object(DriverSteps, "_conclude", conclude_or_not),
    ):
        results = counted.execute_and_collect()
        return Counter(results)


EVENTS = ("R1", "R2", "R3", "R5", "S", "C", "E", "F", "X", "Z", "K")


def exhaustive(events: tuple[str, ...] = ("R1", "R3", "S", "F", "X", "Z", "K")) -> Iterator[str]:
    """All pairs of events, with a rescale behind them: back to back, and with an epoch between them; early and late."""
    for one, two in product(events, repeat=2):
        for between in (".", "/"):
            for lead in ("", "E/E/"):
                yield f"{lead}{one}{between}{two}{between}R2"


def drawn(seed: int) -> tuple[str, str | None, str]:
    """A random schedule, with an interval and a backend."""
    dice = random.Random(seed)
    boundaries = [
        ".".join(dice.choices(EVENTS, (4, 4, 4, 3, 2, 2, 6, 2, 2, 1, 2), k=dice.choice((1, 1, 2, 2, 3))))
        for _ in range(5)
    ]
    interval = dice.choice(("1 ms", "1 ms", "1 h"))
    return "/".join(boundaries), interval, dice.choice(("hashmap", "rocksdb"))
