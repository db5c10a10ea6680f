"""An unbounded job with a bounded state runs on without growing: driver, JVM, Python workers, slots, files.

Fifteen seconds as part of the suite; a minute with `HEADRACE_SOAK_SECONDS=60 scripts/test tests/integration/test_memory.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SECONDS = float(os.environ.get("HEADRACE_SOAK_SECONDS", "15"))
MEGABYTE = 1 << 10
BOUNDS = {
    "driver": 10 * MEGABYTE,
    "slots": 10 * MEGABYTE,
    "workers": 15 * MEGABYTE,
    "jvm": 80 * MEGABYTE,  # compiled code and a heap of at most 512 megabytes that it may fill
}


def test_memory_stays_flat(tmp_path):
    program = Path(__file__).with_name("steady_job.py")
    finished = subprocess.run(
        [sys.executable, str(program), str(SECONDS)],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        check=True,
        timeout=SECONDS + 120,
    )
    samples = json.loads(finished.stdout)
    assert samples[-1]["epoch"] > SECONDS / 2, "epochs follow each other"
    part = len(samples) // 4
    early, late = samples[part : 2 * part], samples[-part:]
    for what, bound in BOUNDS.items():
        growth = median(s[what] for s in late) - median(s[what] for s in early)
        assert growth < bound, f"{what} has grown by {growth} kB in {SECONDS:.0f} s: {[s[what] for s in samples]}"
    assert max(s["state"] for s in samples) < 10 * MEGABYTE
    assert not [path.name for path in tmp_path.iterdir() if "headrace" in path.name or "blockmgr" in path.name]
