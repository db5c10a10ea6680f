"""The protocol on real files, its process killed by SIGKILL at every point: nothing lost, nothing twice."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.foundation.faultpoints import POINTS, VARIABLE

SCRIPT = Path(__file__).with_name("killed_job.py")
RECORDS = 9


def run(root, fault=""):
    environment = {**os.environ, VARIABLE: fault, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    return subprocess.run(
        [sys.executable, str(SCRIPT), str(root), str(RECORDS)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def visible(root):
    return sorted(int(n) for f in (root / "visible").iterdir() for n in f.read_text().split())


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("again", [False, True], ids=["once", "and in the recovery"])
def test_killed_at_every_point(memory_path, again):
    for point in POINTS:
        root = memory_path / point
        root.mkdir()
        once = 1 if point.startswith("gen.") else 2
        killed = run(root, f"{point}:{once}:kill")
        assert killed.returncode == -signal.SIGKILL, f"{point} was not reached: {killed.stderr}"
        if again:  # the second driver dies too, wherever it gets to that point
            run(root, f"{point}:1:kill")
        last = run(root)
        assert last.returncode == 0, f"{point}: {last.stderr}"
        assert visible(root) == list(range(RECORDS)), point
