"""A part of the crash tests: jobs on real files, killed hundreds of times. The whole of it is `scripts/chaos`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from headrace.foundation.faultpoints import POINTS

HERE = Path(__file__).parent
SEED = 20261116


def chaos(folder: Path, *arguments: str, timeout_s: float) -> list[dict[str, Any]]:
    """Runs the harness as the command does; gives its results, of which none is bad."""
    results = folder / "results.jsonl"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "chaos_kit", "--seed", str(SEED), "--folder", str(folder / "trials")),
            *("--results", str(results), *arguments),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *(p for p in sys.path if p)])},
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    found = [json.loads(line) for line in results.read_text().splitlines()]
    assert all(r["lost"] == r["duplicated"] == r["foreign"] == 0 for r in found)
    return found


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_three_hundred_kills_of_a_local_job(memory_path):
    results = chaos(memory_path, "--level", "L1", "--kills", "300", "--jobs", "2", timeout_s=850)
    assert sum(r["kills"] for r in results) >= 300
    assert {p for r in results for p in r["points"]} == set(POINTS)
    assert sum(r["fenced"] for r in results) >= 8, "drivers that were replaced while they slept"
    assert sum(r["rescales"] for r in results) >= 10, "rescales of running jobs"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_forty_rescales_of_running_jobs(memory_path):
    """Back to back, right after a restore, in recovery, over REST, by the file, while a savepoint is taken; both backends."""
    results = chaos(memory_path, "--kind", "live", "--rescales", "40", "--jobs", "2", timeout_s=280)
    assert sum(r["rescales"] for r in results) >= 40


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_five_hundred_rescales_of_running_jobs(memory_path):
    results = chaos(memory_path, "--kind", "live", "--rescales", "500", "--jobs", "2", "--first", "100", timeout_s=1400)
    assert sum(r["rescales"] for r in results) >= 500


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.timeout(1500)
def test_rescales_of_a_job_on_spark(tmp_path_factory):
    folder = tmp_path_factory.mktemp("l2")  # a short path: sockets are made in it
    results = chaos(folder, "--level", "L2", "--kind", "spark-live", "--rescales", "30", timeout_s=1400)
    assert sum(r["rescales"] for r in results) >= 30


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_files_that_rot_are_noticed(memory_path):
    results = chaos(memory_path, "--kind", "damage", "--trials", "32", "--jobs", "2", timeout_s=550)
    outcomes = [r["outcome"] for r in results]
    assert len(outcomes) == 32
    assert outcomes.count("refused") >= 6


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "what"), [("stop", "savepoints"), ("term", "kills")])
def test_jobs_that_are_asked_to_end_at_a_named_point_go_on(memory_path, kind, what):
    results = chaos(memory_path, "--kind", kind, "--trials", "6", "--first", "8", "--jobs", "2", timeout_s=250)
    assert sum(r[what] for r in results) >= 3


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_fifteen_kills_of_a_job_on_spark(tmp_path_factory):
    """Slots, Python workers and daemons, and the driver with its JVM."""
    folder = tmp_path_factory.mktemp("l2")  # a short path: sockets are made in it
    results = chaos(folder, "--level", "L2", "--first", "3", "--kills", "15", timeout_s=850)
    killed = Counter(kind for r in results for kind, count in r["killed"].items() for _ in range(count))
    assert sum(killed.values()) >= 15
    assert killed["driver"] >= 1
    assert killed["slot"] >= 1


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_twenty_kills_of_a_sql_job(memory_path):
    """Windows, aggregations, joins, top N, patterns, tables from and to streams of changes; with mini-batches too."""
    results = chaos(memory_path, "--workload", "sql", "--kills", "20", "--jobs", "2", timeout_s=550)
    assert sum(r["kills"] for r in results) >= 20


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_six_kills_of_a_sql_job_on_spark(tmp_path_factory):
    folder = tmp_path_factory.mktemp("l2")  # a short path: sockets are made in it
    results = chaos(folder, "--level", "L2", "--workload", "sql", "--first", "3", "--kills", "6", timeout_s=850)
    assert sum(sum(r["killed"].values()) for r in results) >= 6


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", [None, "live", "rescale", "stop"])
def test_many_kills_of_a_sql_job(memory_path, kind):
    """Killed, rescaled while it runs, restarted with another parallelism and backend, stopped with a savepoint."""
    chosen = ("--kills", "300") if kind is None else ("--kind", kind, "--trials", "40")
    chaos(memory_path, "--workload", "sql", *chosen, "--jobs", "2", timeout_s=3500)
