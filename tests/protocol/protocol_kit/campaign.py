"""Many model runs in a row: the exhaustive families first, then damage and random ones up to the number.

Every run has a label from which it can be replayed alone: `strike:manifest.torn/1/kill+marker.pre/1/power@4,2,0` (at points),
`step:40/full+12/kill@4,1,9` (at steps), `zombie:17,40,-@4,1,9`, `cancel:17,40@4,1,9`,
`restored:32,kill-unsynced,6,power@4,1,9`, `damage:12`, `random:12`. After `@`
follow the records of a partition, the retained checkpoints and the tolerated failures.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from headrace.foundation.faultpoints import POINTS
from protocol_kit.damage import run_damage
from protocol_kit.schedules import (
    Strike,
    life_of,
    pairs,
    run_cancel,
    run_random,
    run_restored,
    run_steps,
    run_strikes,
    run_zombie,
    strikes,
)
from protocol_kit.world import World

SMALL = 20_000
"""Up to this number a sample of the exhaustive families runs; above, all of them."""


@dataclass
class Tally:
    """The results of a campaign."""

    runs: Counter[str] = field(default_factory=Counter)
    reached: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    steps: int = 0
    wall: float = 0.0
    cpu: float = 0.0
    violations: list[tuple[str, str]] = field(default_factory=list)

    @property
    def unreached(self) -> list[str]:
        return [p for p in POINTS if not self.reached[p]]

    @property
    def passed(self) -> bool:
        return not self.violations and not self.unreached


def replay(label: str, **options: Any) -> World:
    """Run the schedule of a label."""
    family, _, rest = label.partition(":")
    if family in ("random", "damage"):
        return (run_random if family == "random" else run_damage)(int(rest), **options)
    what, _, sizes = rest.partition("@")
    length, retained, tolerable = map(int, sizes.split(","))
    options = {"length": length, "retained": retained, "tolerable": tolerable, **options}
    if family == "strike":
        faults = [s.split("/") for s in what.split("+")]
        return run_strikes(tuple(Strike(p, int(n), a) for p, n, a in faults), **options)
    if family == "step":
        places = [s.split("/") for s in what.split("+")]
        return run_steps(tuple((int(n), a) for n, a in places), **options)
    if family == "zombie":
        first, second, then = what.split(",")
        return run_zombie(int(first), int(second), None if then == "-" else int(then), **options)
    if family == "cancel":
        return run_cancel(*map(int, what.split(",")), **options)
    if family == "restored":
        place, action, second, then = what.split(",")
        return run_restored(int(place), action, int(second), then == "power", **options)
    raise ValueError(f"no schedule has the label {label!r}")


def labels(schedules: int, seed: int) -> Iterator[str]:
    """Yield the labels of a campaign."""
    whole = schedules > SMALL
    exhaustive = list(_singles())
    exhaustive += _steps()
    exhaustive += _pairs(2 if whole else 1)
    if whole:
        exhaustive += _pairs_of_steps()
    exhaustive += _zombies(1 if whole else 10)
    exhaustive += _cancels(5 if whole else 20)
    exhaustive += _restored(2 if whole else 14)
    random.Random(seed).shuffle(exhaustive)  # a short campaign gets a sample of everything
    yield from exhaustive[:schedules]
    left = max(0, schedules - len(exhaustive))
    damaged = left // 5
    yield from (f"damage:{seed + n}" for n in range(damaged))
    yield from (f"random:{seed + n}" for n in range(left - damaged))


def _text(*faults: Strike) -> str:
    return "strike:" + "+".join(f"{s.point}/{s.occurrence}/{s.action}" for s in faults)


def _singles() -> Iterator[str]:
    for retained in (1, 2, 3):
        yield from (f"{_text(s)}@6,{retained},{9 * (retained % 2)}" for s in strikes(4))


def _steps() -> Iterator[str]:
    for retained, tolerable in ((1, 9), (2, 0)):
        for place, actions in enumerate(life_of(length=4, retained=retained)):
            yield from (f"step:{place}/{action}@4,{retained},{tolerable}" for action in actions)


def _pairs_of_steps() -> Iterator[str]:
    """Yield kills after any step, and again after any step."""
    life = len(life_of(length=4))
    for one in range(life):
        yield from (f"step:{one}/kill-after+{two}/kill-after@4,{1 + two % 2},9" for two in range(life + 40))


def _pairs(occurrences: int) -> Iterator[str]:
    for number, (one, two) in enumerate(pairs(occurrences)):
        yield f"{_text(one, two)}@4,{1 + number % 2},{9 * (number // 2 % 2)}"


def _zombies(stride: int) -> Iterator[str]:
    """Suspend driver 1 at each step; let driver 2 reach every `stride`-th step before driver 1 wakes up."""
    life = len(life_of(length=4))
    for first in range(life):
        for second in (*range(0, life + 40, stride), 100_000):
            yield f"zombie:{first},{second},-@4,{1 + first % 2},9"
            if second % (3 * stride) == 0:
                yield f"zombie:{first},{second},{1 + second % 17}@4,{1 + first % 2},9"


def _cancels(stride: int) -> Iterator[str]:
    """Cancel driver 1 at every `stride`-th step, after driver 2 has taken over and reached each such step."""
    life = len(life_of(length=4))
    for first in range(0, life, stride):
        yield from (f"cancel:{first},{second}@4,1,9" for second in range(0, life + 40, 2 * stride))


def _restored(stride: int) -> Iterator[str]:
    """Another job starts from each point of a driver's life, and gets to each `stride`-th step."""
    for place, actions in enumerate(life_of(length=4)):
        for action in ("-", *(a for a in actions if a in ("kill-after", "kill-unsynced", "kill-torn"))):
            for second in (*range(place % stride, 20, stride), 100_000):
                for then in ("power", "wake"):
                    yield f"restored:{place},{action},{second},{then}@4,{1 + place % 2},9"


def run_campaign(schedules: int, seed: int, keep: int = 20, **options: Any) -> Tally:
    """Run the schedules; keep the first `keep` violations with their labels."""
    tally = Tally()
    wall, cpu = time.perf_counter(), time.process_time()
    for label in labels(schedules, seed):
        tally.runs[label.partition(":")[0]] += 1
        try:
            world = replay(label, **options)
        except AssertionError as error:
            tally.violations.append((label, str(error)))
            if len(tally.violations) >= keep:
                break
            continue
        tally.reached += world.reached
        tally.steps += world.steps
        tally.ends.update(a.state for a in world.actors)
    tally.wall, tally.cpu = time.perf_counter() - wall, time.process_time() - cpu
    return tally


def first_violation(schedules: int, seed: int, **options: Any) -> tuple[int, str, str] | None:
    """Return how many runs it took to catch a broken variant, the label, and what was wrong."""
    dice = random.Random(seed)
    families = [
        list(_singles()),
        list(_steps()),
        list(_pairs(1)),
        list(_zombies(10)),
        list(_cancels(10)),
        list(_restored(5)),
    ]
    for family in families:
        dice.shuffle(family)
    families += [[f"{name}:{seed + n}" for n in range(schedules)] for name in ("damage", "random")]
    mixed = [iter(family) for family in families]
    number = 0
    while number < schedules:
        for part in mixed:
            for label in islice(part, 40):
                number += 1
                try:
                    replay(label, **options)
                except AssertionError as error:
                    return number, label, str(error)
    return None
