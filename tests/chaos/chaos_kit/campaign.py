"""Many trials: runs them, counts faults and reached points, prints a table; keeps the folders of bad ones."""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import re
import shutil
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from chaos_kit import workload
from chaos_kit.cluster import cluster
from chaos_kit.damage import DamageTrial, draw_damage
from chaos_kit.lives import Nursery
from chaos_kit.plans import KINDS, about, draw
from chaos_kit.spark_trials import ONLY_BY_NAME, SPARK_KINDS, SparkTrial, draw_spark
from chaos_kit.trials import Trial
from headrace.foundation.faultpoints import POINTS

MOST = 1_000_000
_ID = re.compile("[0-9a-f]{8,}|[0-9]+")


def run_trials(trials: Iterable[tuple[int, Trial]], campaign: int, kills: int, rescales: int, out: Any) -> int:
    """Runs trials one after the other until there were so many kills, or rescales; gives the number of bad ones.

    Each gives a line of JSON.
    """
    bad = 0
    for number, trial in trials:
        try:
            result = trial.run()
        except Exception:
            trial.problems.append(f"the harness failed: {traceback.format_exc()}")
            result = {"kind": trial.plan.kind, "problems": trial.problems, "kills": 0, "points": [], "recovery": []}
        if trial.failed:
            bad += 1
            what = f"chaos: trial {number} of seed {campaign} ({trial.plan.kind} {trial.plan.mode}) is BAD, see {trial.folder}"
            print(what, *trial.problems, sep="\n    ", file=sys.stderr, flush=True)
        else:
            shutil.rmtree(trial.folder, ignore_errors=True)
        out.write(json.dumps({"trial": number, "seed": campaign, **result}) + "\n")
        out.flush()
        kills -= result["kills"]
        rescales -= result.get("rescales", 0)
        if kills <= 0 or rescales <= 0:
            break
    return bad


def local_trials(
    folder: Path, campaign: int, numbers: Iterable[int], kind: str | None, job: str
) -> Iterator[tuple[int, Trial]]:
    """Trials on the local executor, by their numbers."""
    if kind == "damage":
        foreign = foreign_job(folder / f"foreign-{os.getpid()}")
        yield from ((n, DamageTrial(draw_damage(campaign, n), folder / str(n), foreign)) for n in numbers)
    else:
        yield from ((n, Trial(about(draw(campaign, n, kind), job, n), folder / str(n))) for n in numbers)


def spark_trials(
    folder: Path, campaign: int, numbers: Iterable[int], level: str, kind: str | None, job: str
) -> Iterator[tuple[int, Trial]]:
    """Trials on Spark: in one process, or on a cluster that lives as long as the campaign."""
    on_cluster = level == "L3"
    with cluster(folder / "cluster") if on_cluster else contextlib.nullcontext({}) as settings:
        for number in numbers:
            plan = about(draw_spark(campaign, number, settings, on_cluster, kind), job, number)
            if job == "sql":  # of which each epoch takes longer
                plan = replace(plan, harms=tuple(each[:5] for each in plan.harms))
            yield number, SparkTrial(plan, folder / str(number))


def foreign_job(folder: Path) -> Path:
    """The remains of another job."""
    folder.mkdir(parents=True, exist_ok=True)
    nursery = Nursery(folder, workload.run)
    nursery.start({"root": str(folder), "seed": 4, "records": 100, "job": "foreign"}, "publish.pre:3:kill").wait()
    return folder


def summary(results: list[dict[str, Any]]) -> str:
    """The table for the docs, and what was not reached."""
    rows = [
        "| fault | trials | kills | rescales | lost | duplicated | fenced | recovery p50 / p95 s |",
        "| --- | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for kind, words in {**KINDS, **SPARK_KINDS}.items():
        mine = [r for r in results if r["kind"] == kind]
        if mine:
            rows.append(_row(words, mine))
    rows.append(_row("all", results))
    reached = Counter(p for r in results for p in r["points"])
    least = min(POINTS, key=lambda p: reached[p])
    rows.append(
        f"\npoints reached: {sum(reached[p] > 0 for p in POINTS)} of {len(POINTS)}, the rarest {least} {reached[least]} times"
    )
    if killed := sum((Counter(r["killed"]) for r in results if "killed" in r), Counter()):
        rows.append(f"killed: {dict(killed)}")
    if damaged := Counter(f"{r['way']}: {r['outcome']}" for r in results if r["kind"] == "damage"):
        rows += [f"{count} x {what}" for what, count in sorted(damaged.items())]
    elif missing := [p for p in POINTS if not reached[p]]:
        rows.append(f"NOT REACHED: {', '.join(missing)}")
    if reasons := Counter(_ID.sub("...", reason)[:120] for r in results for reason in r.get("reasons", ())):
        rows += [f"{count} x {reason}" for reason, count in reasons.most_common()]
    rows.append(f"bad trials: {sum(bool(r['problems']) for r in results)} of {len(results)}")
    return "\n".join(rows)


def _row(words: str, results: list[dict[str, Any]]) -> str:
    times = sorted(t for r in results for t in r["recovery"])
    middle, late = (f"{times[int((len(times) - 1) * q)]:.2f}" if times else "-" for q in (0.5, 0.95))
    sums = [sum(r.get(k, 0) for r in results) for k in ("kills", "rescales", "lost", "duplicated", "fenced")]
    return f"| {words} | {len(results)} | {' | '.join(map(str, sums))} | {middle} / {late} |"


def warm_up(folder: Path, job: str) -> None:
    """Runs a small job here, so that the processes that are forked from this one have all modules."""
    with tempfile.TemporaryDirectory(dir=folder) as root:
        assert workload.run({"root": root, "seed": 0, "records": 20, "workload": job}) == workload.FINISHED
    assert threading.active_count() == 1, "a process is forked safely only while it has one thread"


def run_level_1(arguments: argparse.Namespace, folder: Path, numbers: range) -> None:
    """Forks workers that share the trials."""
    warm_up(folder, arguments.workload)
    gc.collect()
    gc.freeze()
    kills, rescales = (-(-n // arguments.jobs) if n else sys.maxsize for n in (arguments.kills, arguments.rescales))
    workers = []
    for worker in range(arguments.jobs):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                with open(folder / f"results-{worker}.jsonl", "w") as out:
                    trials = local_trials(
                        folder, arguments.seed, numbers[worker :: arguments.jobs], arguments.kind, arguments.workload
                    )
                    code = int(run_trials(trials, arguments.seed, kills, rescales, out) > 0)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        workers.append(pid)
    for pid in workers:
        os.waitpid(pid, 0)


def run_on_spark(arguments: argparse.Namespace, folder: Path, numbers: range) -> None:
    """One Spark at a time."""
    with open(folder / "results-0.jsonl", "w") as out:
        trials = spark_trials(folder, arguments.seed, numbers, arguments.level, arguments.kind, arguments.workload)
        kills, rescales = (n or sys.maxsize for n in (arguments.kills, arguments.rescales))
        run_trials(trials, arguments.seed, kills, rescales, out)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/chaos", description="Kills jobs and counts what they have put out.")
    parser.add_argument("--level", default="L1", choices=("L1", "L2", "L3"))
    parser.add_argument("--trials", type=int, default=MOST + 1, help="at most so many")
    parser.add_argument("--kills", type=int, default=0, help="until there were so many")
    parser.add_argument("--rescales", type=int, default=0, help="until there were so many rescales of running jobs")
    parser.add_argument("--first", type=int, default=0, help="number of the first trial, to run one again")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=(*KINDS, *ONLY_BY_NAME), help="only this kind of fault")
    parser.add_argument("--workload", default="streams", choices=("streams", "sql"), help="the job that is killed")
    parser.add_argument("--jobs", type=int, default=1, help="trials at a time")
    parser.add_argument("--folder", type=Path, help="where trials live; the folders of bad ones stay")
    parser.add_argument("--results", type=Path, help="a file for the results, a line of JSON for each trial")
    arguments = parser.parse_args(argv)
    if arguments.kind is not None and (arguments.kind in ONLY_BY_NAME) is (arguments.level == "L1"):
        parser.error(f"{', '.join(ONLY_BY_NAME)} are kinds of L2 and L3, all others of L1")
    if arguments.trials > MOST and not arguments.kills and not arguments.rescales:
        parser.error("give --trials, --kills or --rescales")
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="headrace-chaos-"))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"chaos: level {arguments.level}, seed {arguments.seed}, in {folder}", flush=True)
    began = time.time()
    numbers = range(arguments.first, arguments.first + arguments.trials)
    (run_level_1 if arguments.level == "L1" else run_on_spark)(arguments, folder, numbers)
    lines = [line for path in sorted(folder.glob("results-*.jsonl")) for line in path.read_text().splitlines()]
    results = [json.loads(line) for line in lines]
    if arguments.results:
        arguments.results.write_text("".join(json.dumps(r) + "\n" for r in results))
    print(summary(results))
    print(f"took {time.time() - began:.0f} s")
    done = (
        len(results) == arguments.trials
        or sum(r["kills"] for r in results) >= arguments.kills > 0
        or sum(r.get("rescales", 0) for r in results) >= arguments.rescales > 0
    )
    whole = done and not any(r["problems"] for r in results)
    return 0 if whole else 1
