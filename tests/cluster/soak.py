"""Three jobs on a cluster of this machine, whose processes are killed again and again. Run by `scripts/soak`.

    python soak.py --minutes 10 --seed 1

Kills job masters, executors and the dispatcher in turn, each time waits until all jobs have committed more, and looks at the
memory of what lives. At the end each job is stopped with a savepoint: its numbers must be there once each, without a gap, and
its state must have counted as many. Prints a report as JSON; the exit code is 1 if something was lost or memory grew.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from cluster_kit import Cluster, kill, member

NAMES = ("one", "two", "three")
KINDS = ("job master", "executor", "dispatcher")
PAUSE_S = 6.0
RECOVERY_S = 120.0
GROWTH_MB = 30.0
GROWTH_SHARE = 1.25
FEWEST_SAMPLES = 12


class Memory:
    """The resident memory of each process of headrace, as often as it is looked at."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._samples: dict[tuple[int, str], list[float]] = {}

    def look(self) -> None:
        for text in ("headrace.service.job_process", "headrace.runtime.task.slot"):
            for process in self._cluster.processes(text):
                self._sample(process, text)
        for process in self._cluster.processes("headrace.service"):
            if process.pid == member(self._cluster, "service"):
                self._sample(process, "headrace.service")

    def _sample(self, process, text: str) -> None:
        try:
            megabytes = process.memory_info().rss / (1 << 20)
        except Exception:  # it was killed just now
            return
        self._samples.setdefault((process.pid, text), []).append(megabytes)

    def report(self) -> list[dict]:
        """For each process that lived long enough: its memory in the second and in the last quarter of its life."""
        found = []
        for (_, text), samples in self._samples.items():
            if len(samples) >= FEWEST_SAMPLES:
                quarter = len(samples) // 4
                early = statistics.median(samples[quarter : 2 * quarter])
                late = statistics.median(samples[-quarter:])
                flat = late <= max(early * GROWTH_SHARE, early + GROWTH_MB)
                found.append({"process": text, "early_mb": round(early), "late_mb": round(late), "flat": flat})
        return found


def one_kill(cluster: Cluster, kind: str) -> float:
    """Kills a process; gives how many seconds it took until all jobs had committed more."""
    before = {name: len(cluster.files(name)) for name in NAMES}
    if kind == "job master":
        kill(cluster.processes("headrace.service.job_process"))
    elif kind == "executor":
        kill(cluster.processes("CoarseGrainedExecutorBackend"))
    else:
        kill([p for p in cluster.processes("headrace.service") if p.pid == member(cluster, "service")])
        cluster("cluster", "start")
    began = time.monotonic()
    # Two files more than before: what was on its way already does not count.
    while any(len(cluster.files(name)) < count + 3 for name, count in before.items()):
        assert time.monotonic() - began < RECOVERY_S, (
            f"after the loss of a {kind}:\n{cluster('list', '-a')}\n{cluster.logs()}"
        )
        time.sleep(0.5)
    return time.monotonic() - began


def soak(cluster: Cluster, seconds: float, seed: int) -> dict:
    """Runs the jobs for so long; gives the report."""
    randomness = random.Random(seed)
    deadline = time.monotonic() + seconds
    cluster("cluster", "start")
    ids = {name: cluster.submit(name) for name in NAMES}
    for name in NAMES:
        cluster.wait_for_more(name)
    memory, recoveries = Memory(cluster), {kind: [] for kind in KINDS}
    turn: list[str] = []
    while time.monotonic() < deadline:
        turn = turn or randomness.sample(KINDS, len(KINDS))
        kind = turn.pop()
        recoveries[kind].append(round(one_kill(cluster, kind), 1))
        quiet = time.monotonic() + PAUSE_S
        while time.monotonic() < min(quiet, deadline):
            memory.look()
            time.sleep(1.0)
        sys.stderr.write(f"soak: {kind} killed, all jobs went on after {recoveries[kind][-1]} s\n")
    jobs = {}
    for name, job_id in ids.items():
        savepoint = cluster.json("stop", job_id)["savepoint"]
        rows = cluster("state", "scan", "--json", savepoint, "counts", "_reduce_state").splitlines()
        numbers = cluster.numbers(name)
        jobs[name] = {
            "numbers": len(numbers),
            "whole": numbers == list(range(1, len(numbers) + 1)),
            "counted": sum(json.loads(row)["value"][1] for row in rows),
        }
    cluster("cluster", "stop")
    return {"jobs": jobs, "seconds_to_recover": recoveries, "memory": memory.report()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/soak", description="Three jobs under kills; nothing may be lost.")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        cluster = Cluster(Path(folder))
        try:
            report = soak(cluster, arguments.minutes * 60, arguments.seed)
        finally:
            for process in cluster.processes():
                process.kill()
    print(json.dumps(report, indent=1))
    lost = [n for n, job in report["jobs"].items() if not job["whole"] or job["counted"] != job["numbers"]]
    grown = [entry for entry in report["memory"] if not entry["flat"]]
    print(
        f"soak: lost or doubled in {lost}, memory grew in {grown}"
        if lost or grown
        else "soak: nothing lost, memory flat"
    )
    sys.exit(1 if lost or grown else 0)


if __name__ == "__main__":
    main()
