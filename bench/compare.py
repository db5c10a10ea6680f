#!/usr/bin/env python3
"""Runs the shared benchmark (its run.py) with headrace among the engines, at one fixed size of input for it.

    BENCH_DIR=/path/to/bench python bench/compare.py --engines headrace,bytewax --workloads W2,W9 --out /tmp/result

The runner sizes an engine that it does not know by climbing; the seconds that Spark takes to start make that a lottery on a busy
machine. Here headrace is told to take the largest size at once. The engines in bench/engines take part as well. All other
arguments go to run.py.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

OWN = Path(__file__).resolve().parent / "engines"


def main() -> None:
    bench = Path(os.environ.get("BENCH_DIR", ""))
    if not (bench / "run.py").is_file():
        sys.exit("compare: set BENCH_DIR to the directory that holds the benchmark's run.py")
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        both = Path(folder)
        (both / "engines").mkdir()
        for path in bench.glob("*.py"):
            shutil.copy(path, both)
        for path in (*(bench / "engines").glob("*.py"), *OWN.glob("*.py")):
            shutil.copy(path, both / "engines")
        sys.path.insert(0, folder)
        import run

        for path in [both / "engines" / "headrace.py", *OWN.glob("*.py")]:
            run.HINTS[path.stem] = {"*": 10**9}
            sys.argv[1:1] = ["--python", f"{path.stem}={sys.executable}"]
        run.main()


if __name__ == "__main__":
    main()
