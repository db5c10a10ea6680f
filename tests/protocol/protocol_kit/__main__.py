"""The command line of the crash model: `scripts/protocol-model --schedules 500000 --seed 1`."""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time

from protocol_kit.campaign import Tally, first_violation, replay, run_campaign
from protocol_kit.mutants import MUTANTS


def main() -> int:
    logging.getLogger("headrace").setLevel(logging.CRITICAL)  # the faults are intended
    parser = argparse.ArgumentParser(
        prog="protocol-model", description="Run the crash model of the checkpoint protocol."
    )
    parser.add_argument("--schedules", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=None, help="default: from the clock; it is printed")
    parser.add_argument("--replay", metavar="LABEL", help="run one schedule again")
    parser.add_argument("--mutant", choices=sorted(MUTANTS), help="a broken protocol, to see it caught")
    parser.add_argument("--json", action="store_true", help="print the result as one line of JSON")
    arguments = parser.parse_args()
    options = MUTANTS[arguments.mutant] if arguments.mutant else {}
    if arguments.replay:
        world = replay(arguments.replay, **options)
        print(f"{arguments.replay}: {world.steps} steps, drivers and tasks: {[a.state for a in world.actors]}")
        return 0
    seed = arguments.seed if arguments.seed is not None else int(time.time())
    if arguments.mutant:
        caught = first_violation(arguments.schedules, seed, **options)
        if caught is None:
            print(f"seed {seed}: {arguments.mutant} was not caught")
        else:
            number, label, text = caught
            print(f"seed {seed}: {arguments.mutant} was caught by schedule {number}, {label}\n{text}")
        return 0 if caught is not None else 1
    if not arguments.json:
        print(f"seed {seed}", flush=True)
    tally = run_campaign(arguments.schedules, seed)
    report = as_json if arguments.json else as_text
    print(report(seed, tally))
    return 0 if tally.passed else 1


def as_json(seed: int, tally: Tally) -> str:
    return json.dumps({"seed": seed, "passed": tally.passed, "unreached": tally.unreached, **vars(tally)})


def as_text(seed: int, tally: Tally) -> str:
    lines = [
        f"schedules  {sum(tally.runs.values())} {dict(tally.runs)}",
        f"steps      {tally.steps}, {tally.wall:.1f} s wall, {tally.cpu:.1f} s processor",
        f"ended      {dict(tally.ends)}",
        f"points     {len(tally.reached)} reached, the rarest {min(tally.reached.values(), default=0)} times",
    ]
    lines += [f"UNREACHED  {point}" for point in tally.unreached]
    lines += [f"VIOLATION  --replay '{label}': {text}" for label, text in tally.violations]
    return "\n".join([*lines, "passed" if tally.passed else "FAILED"])


if __name__ == "__main__":
    sys.exit(main())
