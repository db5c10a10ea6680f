#!/usr/bin/env python3
"""Runs the shared benchmark (its run.py) with headrace among the engines, at one fixed size of input for it.

    BENCH_DIR=/path/to/bench python bench/compare.py --engines headrace,bytewax --workloads W2,W9 --out /tmp/result

The runner sizes an engine that it does not know by climbing; the seconds that Spark takes to start make that a lottery on a busy
machine. Here headrace is told to take the largest size at once. All other arguments go to run.py.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    bench = os.environ.get("BENCH_DIR", "")
    if not os.path.isfile(os.path.join(bench, "run.py")):
        sys.exit("compare: set BENCH_DIR to the directory that holds the benchmark's run.py")
    sys.path.insert(0, bench)
    import run

    run.HINTS["headrace"] = {"*": 10**9}
    sys.argv[1:] = ["--python", f"headrace={sys.executable}", *sys.argv[1:]]
    run.main()


if __name__ == "__main__":
    main()
