"""The crash model by command: `scripts/protocol-model --schedules 500000 --seed 1`."""

from __future__ import annotations

import argparse
import json
import sys
import time

from protocol_kit.campaign import replay, run_campaign
from protocol_kit.mutants import MUTANTS


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="protocol-model", description="Run the crash model of the checkpoint protocol."
    )
    parser.add_argument("--schedules", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=None, help="default: from the clock; it is printed")
    parser.add_argument("--replay", metavar="LABEL", help="run one schedule again")
    parser.add_argument("--mutant", choices=sorted(MUTANTS), help="with a broken protocol, to see it caught")
    parser.add_argument("--json", action="store_true", help="print the result as one line of JSON")
    arguments = parser.parse_args()
    options = MUTANTS[arguments.mutant] if arguments.mutant else {}
    if arguments.replay:
        world = replay(arguments.replay, **options)
        print(f"{arguments.replay}: {world.steps} steps, drivers and tasks: {[a.state for a in world.actors]}")
        return 0
    seed = arguments.seed if arguments.seed is not None else int(time.time())
    print(f"seed {seed}", flush=True)
    tally = run_campaign(arguments.schedules, seed, **options)
    if arguments.json:
        print(json.dumps({"seed": seed, **vars(tally)}))
    else:
        print(f"schedules  {sum(tally.runs.values())} {dict(tally.runs)}")
        print(f"steps      {tally.steps}, {tally.wall:.1f} s wall, {tally.cpu:.1f} s processor")
        print(f"ended      {dict(tally.ends)}")
        print(f"points     {len(tally.reached)} reached, the rarest {min(tally.reached.values(), default=0)} times")
    for point in tally.unreached:
        print(f"UNREACHED  {point}")
    for label, text in tally.violations:
        print(f"VIOLATION  --replay '{label}': {text}")
    print("passed" if tally.passed else "FAILED")
    return 0 if tally.passed else 1


if __name__ == "__main__":
    sys.exit(main())
