"""Run random queries: `scripts/sql-fuzz --queries 5000 --seed 1`. Print each difference, and exit with 1 if there is one."""

from __future__ import annotations

import argparse
import sys
import time

from fuzz_kit.trials import differences


def main() -> None:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(prog="scripts/sql-fuzz", description=__doc__)
    parser.add_argument("--queries", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    began, found = time.monotonic(), 0
    for trial in differences(arguments.seed, arguments.queries):
        found += 1
        print(trial, end="\n\n", flush=True)
    print(f"{arguments.queries} queries, {found} differences, {time.monotonic() - began:.0f} s")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
