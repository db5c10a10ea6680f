"""Trials on Spark: in each life of the driver several of its processes are killed, at last it itself.

Spark makes good what dies below the driver: tasks run again in new slots, executors are replaced. The driver is started again
by the harness. The verifier is the same as for local jobs.
"""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from chaos_kit import workload
from chaos_kit.lives import Life, Nursery
from chaos_kit.plans import DRIVER_POINTS, Strike, TrialPlan, at, rescales
from chaos_kit.spark_lives import SparkNursery
from chaos_kit.trials import Trial
from headrace.foundation.faultpoints import POINTS

TASK_POINTS = tuple(p for p in POINTS if p.startswith(("state", "precommit")))
SPARK_KINDS = {
    "spark-driver": "F1/F2 driver and JVM killed",
    "spark-task": "F2/F4 slots and Python workers killed",
    "spark-executor": "F3/F5 executors and Python daemons killed",
    "spark-zombie": "F6 driver put to sleep, replaced, woken up",
    "spark-slot-zombie": "F7 slot put to sleep in the midst of its output, replaced, woken up",
    "spark-live": "F43 rescaled while it runs, slots killed now and then",
    "spark-stop": "F10 stopped with a savepoint at a named point, and started again",
}
ONLY_BY_NAME = ("spark-slot-zombie", "spark-live", "spark-stop")
"""Kinds that are run when they are asked for."""
LOCAL = {"spark.master": "local[2,4]", "spark.driver.memory": "512m"}
_LIGHT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_PAUSE_S = 0.9


@dataclass(frozen=True)
class SparkPlan(TrialPlan):
    """`strikes` are for the drivers, one for each life; `harms` are the kinds of processes that are killed in a life."""

    harms: tuple[tuple[str, ...], ...] = ()


def draw_spark(
    campaign: int, number: int, settings: dict[str, str], executors: bool, kind: str | None = None
) -> SparkPlan:
    """The plan of a trial: two lives that end badly, and one that comes to the end."""
    chance = random.Random(f"spark/{campaign}/{number}")
    params: dict[str, Any] = {
        "seed": chance.randrange(1 << 30),
        "records": 500,
        "parallelism": 2,
        "executor": "spark",
        "settings": {
            **LOCAL,
            "spark.driver.extraJavaOptions": _LIGHT,
            "execution.checkpointing.num-retained": chance.choice((1, 3)),
            "execution.checkpointing.interval": "100 ms",
            "restart-strategy.fixed-delay.attempts": "50",
            **settings,
        },
    }
    if kind == "spark-slot-zombie":
        point = TASK_POINTS[number % len(TASK_POINTS)]
        return SparkPlan(kind, params["seed"], params, (Strike(f"{point}:{1 + chance.randrange(20)}:stop"),))
    if kind == "spark-live":
        params["settings"]["state.backend.type"] = ("hashmap", "rocksdb")[number % 2]
        params |= {"records": 800, "rescales": rescales(chance, 12, 10.0)}
        strikes = (_strike(chance, number),) if number % 2 else ()
        harms = tuple(("slot",) * (number % 3) for _ in range(2))
        return SparkPlan(kind, params["seed"], params, strikes, "", harms)
    if kind == "spark-stop":
        point = DRIVER_POINTS[number % len(DRIVER_POINTS)]
        return SparkPlan(kind, params["seed"], params, (at(chance, point, "stop"),))
    if number % 5 == 4 and not executors:
        point = chance.choice([p for p in POINTS if p not in TASK_POINTS and not p.startswith("gen")])
        strikes = (Strike(f"{point}:{1 + chance.randrange(3)}:stop"),)
        return SparkPlan("spark-zombie", params["seed"], params, strikes, "after")
    targets = (
        ("executor", "daemon", "slot", "executor") if executors else ("slot", "worker", "slot", "worker", "daemon")
    )
    lives = 2
    strikes = tuple(_strike(chance, number * lives + life) for life in range(lives))
    harms = tuple(tuple(chance.choice(targets) for _ in range(9)) for _ in range(lives + 1))
    return SparkPlan("spark-executor" if executors else "spark-task", params["seed"], params, strikes, "", harms)


def _strike(chance: random.Random, turn: int) -> Strike:
    point = POINTS[turn % len(POINTS)]
    if turn % 3 == 2:
        return Strike(seconds=1.0 + 3 * chance.random())
    most = 20 if point in TASK_POINTS or point.endswith(("between", "partial", "ambiguous")) else 4
    return Strike(f"{point}:{1 + chance.randrange(1 if point.startswith('gen') else most)}:kill")


class SparkTrial(Trial):
    """A job on Spark."""

    plan: SparkPlan

    def __init__(self, plan: SparkPlan, folder: Path, environment: dict[str, str] | None = None) -> None:
        super().__init__(plan, folder)
        self._chance = random.Random(plan.seed)
        self.spark = SparkNursery(folder, f"{plan.seed}-{time.time_ns()}", environment)
        self.nursery = self.spark  # type: ignore[assignment]
        self.victims: list[tuple[str, float]] = []

    def run(self) -> dict[str, Any]:
        report = super().run()
        if self.spark.left:
            self.problems.append(f"I9: processes are left: {self.spark.left}")
        return {
            **report,
            "killed": Counter(kind for kind, _ in self.victims),
            "problems": self.problems,
            "after": self._after(),
        }

    def _after(self) -> list[tuple[str, float]]:
        """What was killed, and the seconds until something new was committed."""
        committed = self.folder / "out" / "committed"
        times = sorted(p.stat().st_ctime for p in committed.iterdir())
        rests = [[t - when for t in times if t > when] for _, when in self.victims]
        return [(kind, round(min(rest), 2)) for (kind, _), rest in zip(self.victims, rests, strict=True) if rest]

    def _start(self, strike: Strike | None = None) -> Life:
        return self.spark.start(self.params, strike.fault if strike is not None else None)

    def _live_until(self, strike: Strike) -> Life:
        """Kills processes of the job one after the other; then the driver, if its own fault has not come first."""
        number = len(self.spark.lives)
        life = self._start(strike)
        self._wait_for_progress(life)
        self._harm(life, self.plan.harms[number])
        if strike.seconds is not None:
            life.sleep_or_end(strike.seconds)
        else:
            life.sleep_or_end(8.0)
        if life.code is None or life.code == -signal.SIGKILL:
            life.send(signal.SIGKILL)  # the JVM may outlive the driver for a moment
            life.wait()
            self.victims.append(("driver", life.ended or 0.0))
        if life.fault_happened and str(strike.fault).startswith(("state", "precommit")):
            self._count("slot", life.token.stat().st_mtime)
        self._note(life, strike)
        return life

    def _finish(self) -> None:
        number = len(self.spark.lives)
        if self.plan.harms and number < len(self.plan.harms):
            life = self._start()
            self._wait_for_progress(life)
            self._harm(life, self.plan.harms[number])
            life.wait(300)
            self._note(life, None)
        super()._finish()

    def _start_last(self) -> Life:
        """There is nothing left to do: that needs no Spark."""
        return Nursery(self.folder, workload.run, "last-").start({**self.params, "executor": "local"})

    def _wait_for_progress(self, life: Life) -> None:
        """Until this driver has committed something."""
        committed = self.folder / "out" / "committed"
        before = len(list(committed.iterdir())) if committed.exists() else 0
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline and life.code is None:
            if committed.exists() and len(list(committed.iterdir())) > before:
                return
            life.sleep_or_end(0.05)

    def _harm(self, life: Life, kinds: tuple[str, ...]) -> None:
        for kind in kinds:
            life.sleep_or_end(self._chance.random() * _PAUSE_S)
            if life.code is not None:
                return
            found = self.spark.processes(kind)
            if found:
                victim = self._chance.choice(found)
                try:
                    victim.kill()
                except psutil.Error:
                    continue
                self._count(kind, time.time())

    def _count(self, kind: str, when: float) -> None:
        self.victims.append((kind, when))
        self.kills.append(when)

    def _slot_zombie(self) -> None:
        """A slot sleeps, its courier and their daemon die; when others have taken its work over it wakes up."""
        (sleep,) = self.plan.strikes
        life = self._start(sleep)
        zombie = self._stopped_slot(life)
        if zombie is not None:
            daemon = zombie.parent().parent()  # of the courier that has started it
            for process in [daemon, *daemon.children()]:
                process.kill()
            self._count("daemon", time.time())
            self._wait_for_progress(life)
            zombie.resume()
            self.points.append(str(sleep.fault).partition(":")[0])
        life.wait(300)
        self._note(life, None)

    def _stopped_slot(self, life: Life) -> psutil.Process | None:
        """The slot that sleeps at its point; None if none has come there before the job was done."""
        while life.code is None:
            life.sleep_or_end(0.05)
            if life.fault_happened:
                stopped = [p for p in self.spark.processes("slot") if p.status() == psutil.STATUS_STOPPED]
                if stopped:
                    return stopped[0]
        return None

    def _zombie(self) -> None:
        if self.plan.kind == "spark-slot-zombie":
            self._slot_zombie()
            return
        (sleep,) = self.plan.strikes
        first = self._start(sleep)
        if first.wait_until_stopped():
            second = self._start()
            self._wait_for_progress(second)
            first.send(signal.SIGCONT)
            first.wait()
            if first.code != workload.FENCED and not str(sleep.fault).startswith(("publish", "gc")):
                self.problems.append(f"the driver that was replaced ended with {first.code}: {self._tail(first)}")
            self._note(first, sleep)
            second.wait(300)
            self._note(second, None)
        else:
            self._note(first, sleep)
