"""The benchmark runs and its output is right; how fast it is, is not a test's business."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"


@pytest.mark.spark
def test_throughput_benchmark_runs():
    command = [sys.executable, str(BENCH / "throughput.py"), "--records", "3000"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == ["stateless", "reduce", "state"]
    assert all(line.endswith("output ok") for line in lines)
