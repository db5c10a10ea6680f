"""The protocol on real files, its process killed by SIGKILL at every point: nothing lost, nothing twice."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.foundation.faultpoints import POINTS

SCRIPT = Path(__file__).with_name("killed_job.py")
RECORDS = 9


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run a driver process to its end; give its return code and what it said."""
    path = tmp_path_factory.mktemp("killed") / "stderr"
    with (
        path.open("w") as errors,
        subprocess.Popen(
            [sys.executable, str(SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as parent,
    ):

        def one(root, fault=""):
            before = path.stat().st_size
            parent.stdin.write(f"{root} {RECORDS} {fault}\n")
            parent.stdin.flush()
            return int(parent.stdout.readline()), path.read_text()[before:]

        yield one
        parent.stdin.close()


def visible(root):
    return sorted(int(n) for f in (root / "visible").iterdir() for n in f.read_text().split())


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("again", [False, True], ids=["once", "and in the recovery"])
def test_killed_at_every_point(memory_path, run, again):
    for point in POINTS:
        root = memory_path / point
        root.mkdir()
        once = 1 if point.startswith("gen.") else 2
        code, said = run(root, f"{point}:{once}:kill")
        assert code == -signal.SIGKILL, f"{point} was not reached: {said}"
        if again:  # the second driver dies too, wherever it gets to that point
            run(root, f"{point}:1:kill")
        code, said = run(root)
        assert code == 0, f"{point}: {said}"
        assert visible(root) == list(range(RECORDS)), point
