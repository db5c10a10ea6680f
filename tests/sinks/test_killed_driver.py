"""The driver's process is killed by SIGKILL; another one goes on. What arrived is counted from outside."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from sink_kit import KINDS, SERVERS

JOB = Path(__file__).with_name("sink_job.py")
LAST = 600

# The process dies at the first of these; the one after it dies at the second; the third comes to the end.
KILLS = [
    ("manifest.post:2", "commit.between:1"),
    ("commit.between:3", "manifest.post:1"),
    ("commit.ambiguous:4", "commit.ambiguous:2"),
    ("precommit.post:5", "marker.pre:2"),
]


def run(kind, directory, url, fault=None):
    environment = {k: v for k, v in os.environ.items() if k != "HEADRACE_FAULT"}
    if fault is not None:
        environment["HEADRACE_FAULT"] = f"{fault}:kill"
    command = [sys.executable, str(JOB), kind, str(directory), str(LAST), url or ""]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


def cases():
    """In continuous integration two of the four deaths for MariaDB: its protocol is PostgreSQL's."""
    for kind in KINDS:
        for number, faults in enumerate(KILLS):
            marks = [pytest.mark.long] if kind == "mariadb" and number % 2 else []
            yield pytest.param(kind, faults, marks=marks, id=f"{kind}-{'+'.join(faults)}")


@pytest.mark.parametrize(("kind", "faults"), list(cases()), indirect=["kind"])
def test_each_record_arrives_once(kind, outer, url, tmp_path, faults):
    for fault in faults:
        killed = run(kind, tmp_path, url, fault)
        assert killed.returncode == -signal.SIGKILL, killed.stderr[-3000:]
    assert outer.arrived() != Counter(range(1, LAST + 1)), "it was killed in the midst"
    ended = run(kind, tmp_path, url)
    assert ended.stdout == "finished\n", ended.stderr[-3000:]
    assert outer.arrived() == Counter(range(1, LAST + 1))
    if kind in ("sqlite", *SERVERS):
        assert outer.leftovers() == [], "what dead drivers have staged is dropped"


@pytest.mark.parametrize("kind", ["two-phase", "sqlite"], indirect=True)
def test_a_job_that_has_finished_does_nothing_more(kind, outer, url, tmp_path):
    for _ in range(2):
        ended = run(kind, tmp_path, url)
        assert ended.stdout == "finished\n", ended.stderr[-3000:]
        assert outer.arrived() == Counter(range(1, LAST + 1))
