"""Many trials: runs them, counts faults and reached points, prints a table; keeps the folders of bad ones."""

from __future__ import annotations

import argparse
import gc
import json
import os
import shutil
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from chaos_kit import workload
from chaos_kit.plans import KINDS, draw
from chaos_kit.trials import Trial
from headrace.common.faultpoints import POINTS


def run_trials(folder: Path, campaign: int, numbers: Iterable[int], kind: str | None, out: Any) -> int:
    """Runs trials one after the other, a line of JSON for each; gives the number of bad ones."""
    bad = 0
    gc.collect()
    gc.freeze()
    for number in numbers:
        trial = Trial(draw(campaign, number, kind), folder / str(number))
        try:
            result = trial.run()
        except Exception:
            trial.problems.append(f"the harness failed: {traceback.format_exc()}")
            result = {"kind": trial.plan.kind, "problems": trial.problems, "kills": 0, "points": [], "recovery": []}
        if trial.failed:
            bad += 1
            print(
                f"chaos: trial {number} of seed {campaign} ({trial.plan.kind} {trial.plan.mode}) is BAD, see {trial.folder}",
                *trial.problems,
                sep="\n    ",
                file=sys.stderr,
                flush=True,
            )
        else:
            shutil.rmtree(trial.folder, ignore_errors=True)
        out.write(json.dumps({"trial": number, "seed": campaign, **result}) + "\n")
        out.flush()
    return bad


def summary(results: list[dict[str, Any]]) -> str:
    """The table for the docs, and what was not reached."""
    rows = [
        "| fault | trials | kills | lost | duplicated | fenced | recovery p50 / p95 s |",
        "| --- | --: | --: | --: | --: | --: | --: |",
    ]
    for kind, words in KINDS.items():
        mine = [r for r in results if r["kind"] == kind]
        if mine:
            rows.append(_row(words, mine))
    rows.append(_row("all", results))
    reached = Counter(p for r in results for p in r["points"])
    least = min(POINTS, key=lambda p: reached[p])
    rows.append(
        f"\npoints reached: {sum(reached[p] > 0 for p in POINTS)} of {len(POINTS)}, the rarest {least} {reached[least]} times"
    )
    if missing := [p for p in POINTS if not reached[p]]:
        rows.append(f"NOT REACHED: {', '.join(missing)}")
    rows.append(f"bad trials: {sum(bool(r['problems']) for r in results)} of {len(results)}")
    return "\n".join(rows)


def _row(words: str, results: list[dict[str, Any]]) -> str:
    times = sorted(t for r in results for t in r["recovery"])
    middle, late = (f"{times[int((len(times) - 1) * q)]:.2f}" if times else "-" for q in (0.5, 0.95))
    sums = [sum(r.get(k, 0) for r in results) for k in ("kills", "lost", "duplicated", "fenced")]
    return f"| {words} | {len(results)} | {' | '.join(map(str, sums))} | {middle} / {late} |"


def warm_up(folder: Path) -> None:
    """Runs a small job here, so that the processes that are forked from this one have all modules."""
    with tempfile.TemporaryDirectory(dir=folder) as root:
        assert workload.run({"root": root, "seed": 0, "records": 20}) == workload.FINISHED
    assert threading.active_count() == 1, "a process is forked safely only while it has one thread"


def run_level_1(arguments: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    """Forks workers that share the trials."""
    warm_up(folder)
    numbers = range(arguments.first, arguments.first + arguments.trials)
    workers = []
    for worker in range(arguments.jobs):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                with open(folder / f"results-{worker}.jsonl", "w") as out:
                    bad = run_trials(folder, arguments.seed, numbers[worker :: arguments.jobs], arguments.kind, out)
                code = int(bad > 0)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        workers.append(pid)
    for pid in workers:
        os.waitpid(pid, 0)
    return [
        json.loads(line) for path in sorted(folder.glob("results-*.jsonl")) for line in path.read_text().splitlines()
    ]


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/chaos", description="Kills jobs and counts what they have put out.")
    parser.add_argument("--level", default="L1", choices=("L1",))
    parser.add_argument("--trials", type=int, default=28)
    parser.add_argument("--first", type=int, default=0, help="number of the first trial, to run one again")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=tuple(KINDS), help="only this kind of fault")
    parser.add_argument("--jobs", type=int, default=1, help="trials at a time")
    parser.add_argument("--folder", type=Path, help="where trials live; the folders of bad ones stay")
    parser.add_argument("--results", type=Path, help="a file for the results, a line of JSON for each trial")
    arguments = parser.parse_args(argv)
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="headrace-chaos-"))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"chaos: level {arguments.level}, {arguments.trials} trials, seed {arguments.seed}, in {folder}", flush=True)
    began = time.time()
    results = run_level_1(arguments, folder)
    if arguments.results:
        arguments.results.write_text("".join(json.dumps(r) + "\n" for r in results))
    print(summary(results))
    print(f"took {time.time() - began:.0f} s")
    whole = len(results) == arguments.trials and not any(r["problems"] for r in results)
    return 0 if whole else 1
