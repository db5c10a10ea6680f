"""Three jobs on a cluster of this machine, whose processes are killed again and again. Run by `scripts/soak`.

    python soak.py --minutes 10 --seed 1

Kills job masters, executors and the dispatcher in turn and each time waits until all jobs have committed more. At the end each
job is stopped with a savepoint: its numbers must be there once each, without a gap, and its state must have counted as many.

Memory is looked at once a second. What a kill has just replaced says nothing about growth, so the processes of one job are never
killed, and the dispatcher is left alone in the second half. Processes of Python must stay as they are; a JVM may fill the heap
that it was given, and no more than that and its overhead. Prints a report as JSON; the exit code is 1 if anything was lost or
doubled, or memory grew.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import psutil
from cluster_kit import Cluster, kill, member

from headrace.state_processor import SavepointReader

NAMES = ("one", "two", "three")
SPARED = "three"
KINDS = ("job master", "executor", "dispatcher")
PAUSE_S = 4.0
RECOVERY_S = 120.0
WARM_S = 30.0
"""How old a process must be for its memory to count: before that it loads what it needs."""
FEWEST_SAMPLES = 8
LONGEST_WATCH_S = 90.0
"""How long the end is put off, on a slow machine, until there is enough to say of memory."""
GROWTH_MB = 24.0
GROWTH_SHARE = 1.15
JVM_MB = 512.0 + 384.0
"""The heap of drivers and executors, as cluster_kit sets it, and what Spark adds to such a heap for all else."""
ROLES = ("dispatcher", "job master", "slot", "JVM of a driver", "JVM of an executor")


class Memory:
    """The resident memory of headrace's own processes, as often as it is looked at."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._samples: dict[tuple[int, str], list[float]] = {}
        self._looked = 0.0

    def look(self) -> None:
        """Looks at all processes, if the last look was a second ago."""
        if time.monotonic() - self._looked < 1.0:
            return
        self._looked = time.monotonic()
        dispatcher = member(self._cluster, "service")
        for process in self._cluster.processes():
            try:
                role = self._role(process, dispatcher)
                if role and time.time() - process.create_time() > WARM_S:
                    megabytes = process.memory_info().rss / (1 << 20)
                    self._samples.setdefault((process.pid, role), []).append(megabytes)
            except psutil.Error:
                continue  # it was killed just now

    def _role(self, process: psutil.Process, dispatcher: int) -> str | None:
        words = process.cmdline()
        if process.pid == dispatcher:
            return "dispatcher"
        marks = ("headrace.service.job_process", "headrace.worker.slot.process", "org.apache.spark.deploy.SparkSubmit")
        found = dict(zip((*marks, "org.apache.spark.executor.CoarseGrainedExecutorBackend"), ROLES[1:]))
        return next((found[word] for word in words if word in found), None)

    def lacks(self) -> set[str]:
        """Of what no process has been looked at often enough yet."""
        return set(ROLES) - {role for (_, role), samples in self._samples.items() if len(samples) >= FEWEST_SAMPLES}

    def report(self) -> list[dict]:
        """For each process that lived long enough: its memory in the first and in the last third of its warm life."""
        found = []
        for (pid, role), samples in sorted(self._samples.items()):
            third = len(samples) // 3
            if len(samples) >= FEWEST_SAMPLES:
                early, late = statistics.median(samples[:third]), statistics.median(samples[-third:])
                flat = late <= (JVM_MB if "JVM" in role else max(early * GROWTH_SHARE, early + GROWTH_MB))
                entry = {"process": role, "pid": pid, "looks": len(samples)}
                found.append({**entry, "early_mb": round(early, 1), "late_mb": round(late, 1), "flat": flat})
        return found


def victims(cluster: Cluster, kind: str, ids: dict[str, str]) -> list[psutil.Process]:
    """The processes of a kind that may be killed, those of one job at a time."""
    if kind == "dispatcher":
        return [p for p in cluster.processes("headrace.service") if p.pid == member(cluster, "service")]
    if kind == "job master":
        found = cluster.processes("headrace.service.job_process")
        return [p for p in found if not p.cmdline()[-1].endswith(ids[SPARED])]
    port = json.loads((cluster.place / "cluster" / "cluster.json").read_text())["web-port"]
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/", timeout=10) as answer:
        spared = [app["id"] for app in json.load(answer)["activeapps"] if app["name"] == SPARED]
    assert len(spared) == 1, "the job that is spared is on the cluster once"
    return [p for p in cluster.processes("CoarseGrainedExecutorBackend") if spared[0] not in p.cmdline()]


def one_kill(cluster: Cluster, kind: str, chosen: psutil.Process, memory: Memory) -> float:
    """Kills a process; gives how many seconds it took until all jobs had committed more."""
    before = {name: len(cluster.files(name)) for name in NAMES}
    kill([chosen])
    began = time.monotonic()
    if kind == "dispatcher":
        cluster("cluster", "start")
    # Three files more than before: what was on its way already does not count.
    while behind := [name for name, count in before.items() if len(cluster.files(name)) < count + 3]:
        waited = time.monotonic() - began
        assert waited < RECOVERY_S, f"{behind} after the loss of a {kind}:\n{cluster('list', '-a')}\n{cluster.logs()}"
        memory.look()
        time.sleep(0.25)
    return round(time.monotonic() - began, 1)


def soak(cluster: Cluster, seconds: float, seed: int) -> dict:
    """Runs the jobs for so long, from the first one's start, and kills at least one process of each kind; gives the report."""
    randomness = random.Random(seed)
    cluster("cluster", "start")
    began = time.monotonic()
    ids = {name: cluster.submit(name, "-D", f"spark.app.name={name}") for name in NAMES}
    for name in NAMES:
        cluster.wait_for_more(name)
    memory = Memory(cluster)
    recoveries: dict[str, list[float]] = {kind: [] for kind in KINDS}
    turn: list[str] = ["dispatcher"]
    while (passed := time.monotonic() - began) < seconds or not all(recoveries.values()):
        kind = turn.pop()
        turn = turn or randomness.sample(KINDS, len(KINDS))
        if kind == "dispatcher" and recoveries[kind] and passed > seconds / 2:
            continue
        chosen = randomness.choice(victims(cluster, kind, ids))
        recoveries[kind].append(one_kill(cluster, kind, chosen, memory))
        sys.stderr.write(f"soak: {kind} killed, all jobs went on after {recoveries[kind][-1]} s\n")
        watch(memory, PAUSE_S)
    while memory.lacks() and time.monotonic() - began < seconds + LONGEST_WATCH_S:
        watch(memory, PAUSE_S)
    jobs = {name: ended(cluster, name, job_id) for name, job_id in ids.items()}
    cluster("cluster", "stop")
    return {
        "seconds": round(time.monotonic() - began),
        "jobs": jobs,
        "recovery_s": recoveries,
        "memory": memory.report(),
    }


def watch(memory: Memory, seconds: float) -> None:
    """Looks at the memory for so long."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        memory.look()
        time.sleep(0.25)


def ended(cluster: Cluster, name: str, job_id: str) -> dict:
    """Stops a job; counts what it has committed and what its state has counted."""
    savepoint = cluster.json("stop", job_id)["savepoint"]
    counts = SavepointReader.read(savepoint).keyed_state("counts", "_reduce_state")
    numbers = cluster.numbers(name)
    return {
        "committed": len(numbers),
        "lost": len(set(range(1, max(numbers) + 1)) - set(numbers)),
        "doubled": len(numbers) - len(set(numbers)),
        "counted": sum(count[1] for _, count in counts),
    }


def faults(report: dict) -> list[str]:
    """What is wrong, as sentences; nothing if all is well."""
    found = [
        f"job {name}: {job}"
        for name, job in report["jobs"].items()
        if job["lost"] or job["doubled"] or job["counted"] != job["committed"] or not job["committed"]
    ]
    found += [f"memory grew: {entry}" for entry in report["memory"] if not entry["flat"]]
    measured = {entry["process"] for entry in report["memory"]}
    found += [f"no {role} lived long enough" for role in ROLES if role not in measured]
    return found + [f"no {kind} was killed" for kind, times in report["recovery_s"].items() if not times]


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
    wrong = faults(report)
    print("soak: " + ("; ".join(wrong) or "nothing lost, nothing doubled, memory flat"))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
