"""Families of model runs: crashes at points, pairs of them, zombies, cancellations, random. Each run can be replayed.

Every run ends the same way: a last driver works without faults to the end of the input, all suspended drivers wake up, the
verifier compares, one more driver collects what they have left behind, and the verifier looks for leaks.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headrace.checkpoint import instructions as do
from headrace.foundation.faultpoints import POINTS
from protocol_kit.simulated_job import Stage, WriteState
from protocol_kit.world import COMMIT_REFUSED, ENDED, FENCED, KILLED, REFUSED, RUNNING, World

LIVE_ERRORS = ("lost-done", "lost-not", "full")
ACTIONS: dict[str, tuple[str, ...]] = {
    "plan.torn": ("kill", "kill-unsynced", "kill-torn", "power", *LIVE_ERRORS, "down"),
    "manifest.torn": ("kill", "kill-unsynced", "kill-torn", "power", *LIVE_ERRORS, "down"),
    "marker.torn": ("kill", "kill-unsynced", "kill-torn", "power", *LIVE_ERRORS, "down"),
    "acks.full": ("kill", "power", "late"),
    "state.torn": ("kill", "kill-unsynced", "kill-torn", "power", "full"),
    "precommit.mid": ("kill", "kill-after", "power", "lost-done", "lost-not"),
    "commit.ambiguous": ("kill", "kill-after", "power", "lost-done", "lost-not", "down"),
}


@dataclass(frozen=True)
class Strike:
    """A fault when a driver reaches a point for the n-th time."""

    point: str
    occurrence: int
    action: str


def strikes(occurrences: int) -> list[Strike]:
    """Return all faults at all points."""
    return [
        Strike(point, n, action)
        for point in POINTS
        for n in range(1, occurrences + 1)
        for action in ACTIONS.get(point, ("kill", "power"))
    ]


def conclude(world: World) -> str:
    """Bring a run to its end and verify it; return how the last driver ended."""
    last = world.spawn()
    world.run(last)
    if last.state is REFUSED:
        if not world.torn and not world.damaged:
            world.verifier.fail("I8", f"refused without damage: {last.error}")
        if "slots/" not in str(last.error) and "state/" not in str(last.error):
            world.verifier.fail("I10", f"a refusal names no file: {last.error}")
        return REFUSED
    if last.state is not ENDED:
        world.verifier.fail("I8", f"the last driver is {last.state}: {last.error}")
    woken = [a for a in world.actors if a.state is RUNNING]
    for actor in world.actors:
        world.run(actor)
        if actor.state is COMMIT_REFUSED and not world.torn and not world.damaged:
            world.verifier.fail("I1", f"a commit was refused: {actor.error}")
        assert actor.state in (ENDED, KILLED, FENCED, REFUSED, COMMIT_REFUSED)
    world.verifier.finish(world.sink, world.idempotent)
    if (
        woken or world.steps % 4 == 0
    ):  # they may have left something behind; otherwise the last driver has collected everything
        world.run(world.spawn())
        world.verifier.finish(world.sink, world.idempotent)
    world.verifier.no_leak(world.sink, world.retained)
    return ENDED


def run_strikes(faults: tuple[Strike, ...], **options: Any) -> World:
    """Run one driver after the other, each with its fault; an error that is not fatal does not end its driver."""
    world = World(**options)
    for fault in faults:
        actor = world.spawn()
        while actor.state is RUNNING:
            hit = actor.point == fault.point and actor.reached[fault.point] + 1 == fault.occurrence
            world.step(actor, fault.action if hit else None)
    conclude(world)
    return world


def run_zombie(first: int, second: int, then: int | None = None, **options: Any) -> World:
    """Suspend driver 1 after `first` steps, let driver 2 take `second`, wake driver 1 up (for `then` steps)."""
    world = World(**options)
    one = world.spawn()
    _some(world, one, first)
    two = world.spawn()
    _some(world, two, second)
    _some(world, one, 100_000 if then is None else then)
    world.run(two)
    conclude(world)
    return world


def run_cancel(first: int, second: int, **options: Any) -> World:
    """Cancel driver 1 after `first` steps, when driver 2 has claimed the job and taken `second`: it must not touch it."""
    world = World(**options)
    one = world.spawn()
    _some(world, one, first)
    two = world.spawn()
    while two.state is RUNNING and not two.driver.checkpoints.workflow.generation:
        world.step(two)
    _some(world, two, second)
    if one.state is RUNNING:
        world.cancel(one)
    world.run(two)
    conclude(world)
    return world


def run_restored(place: int, action: str, second: int, power: bool, **options: Any) -> World:
    """A driver meets a fault at a step ("-": it stops there); a job that starts from its checkpoint takes `second` steps.

    Then the machine loses power, or the driver, if it lives, continues, and after it the other job.
    """
    world = World(**options)
    driver = world.spawn()
    _some(world, driver, place)
    if driver.state is RUNNING and action in applicable(driver.instruction):
        world.step(driver, action)
    restorer = world.spawn_restorer()
    _some(world, restorer, second)
    if power:
        world.lose_power()
    world.run(driver)
    world.run(restorer)
    conclude(world)
    return world


def _some(world: World, actor: Any, steps: int) -> None:
    while steps and actor.state is RUNNING:
        world.step(actor)
        steps -= 1


def pairs(occurrences: int) -> Iterator[tuple[Strike, Strike]]:
    """Yield all faults, and after each, all faults in the driver that recovers."""
    every = strikes(occurrences)
    for one in every:
        for two in every:
            yield one, two


def run_random(seed: int, **options: Any) -> World:
    """Run up to four drivers and their late tasks in any order, with up to five faults of any kind."""
    dice = random.Random(seed)
    options.setdefault("length", dice.choice((2, 2, 4, 4, 6)))
    options.setdefault("retained", dice.choice((1, 2, 3)))
    options.setdefault("tolerable", dice.choice((0, 9)))
    options.setdefault("interval", dice.choice((1, 1, 3000)))  # 3000: not at the end of every epoch
    world = World(**options)
    current = world.spawn()
    budget, drivers = dice.randint(1, 5), 1
    rate = dice.choice((0.01, 0.03, 0.1))
    torn_allowed = dice.random() < 0.2
    fault_in, turn_in = _wait(dice, rate), _wait(dice, 0.05)
    while True:
        if current.state is not RUNNING or turn_in <= 0:
            turn_in = _wait(dice, 0.05)
            running = [a for a in world.actors if a.state is RUNNING]
            if running:
                current = dice.choice(running)
            elif drivers < 4 and budget:
                current, drivers = world.spawn(), drivers + 1
            else:
                break
        turn_in -= 1
        fault_in -= 1
        if fault_in >= 0 or not budget:
            world.step(current)
            if current.state is ENDED and current.driver is not None:
                break
            continue
        budget, fault_in = budget - 1, _wait(dice, rate)
        if drivers < 4 and dice.random() < 0.4:  # a second driver while the first one lives
            current, drivers = world.spawn(), drivers + 1
            continue
        world.step(current, _any_fault(dice, current.instruction, torn_allowed))
        if current.state is KILLED and dice.random() < 0.3:
            world.orphan(current)
    conclude(world)
    return world


def _wait(dice: random.Random, rate: float) -> int:
    """Return the number of steps until an event of this rate."""
    return int(dice.expovariate(rate))


def applicable(instruction: Any) -> tuple[str, ...]:
    """Return the faults that an instruction can meet."""
    kind = type(instruction)
    if kind is do.Create:
        return ("kill", "kill-unsynced", "kill-torn", "power", *LIVE_ERRORS, "down")
    if kind is do.Commit:
        return ("kill", "kill-after", "power", "lost-done", "lost-not", "down")
    if kind is WriteState:
        return ("kill", "kill-unsynced", "kill-torn", "power", *LIVE_ERRORS)
    if kind is Stage:
        return ("kill", "kill-after", "power", "lost-done", "lost-not")
    if kind in (do.Read, do.ListNames, do.Delete, do.CheckFile, do.Settle):
        return ("kill", "kill-after", "power", "full")
    if kind is do.Reach and instruction.point == "acks.full":
        return ("kill", "kill-after", "power", "late")
    return ("kill", "kill-after", "power")


def _any_fault(dice: random.Random, instruction: Any, torn_allowed: bool) -> str:
    return dice.choice([f for f in applicable(instruction) if torn_allowed or f != "kill-torn"])


def life_of(**options: Any) -> list[tuple[str, ...]]:
    """Return the faults that each step of an undisturbed driver can meet."""
    world = World(**options)
    actor = world.spawn()
    life = []
    while actor.state is RUNNING:
        life.append(applicable(actor.instruction))
        world.step(actor)
    return life


def run_steps(faults: tuple[tuple[int, str], ...], **options: Any) -> World:
    """Run one driver after the other, each with a fault at its n-th step (from 0), whatever that step is."""
    world = World(**options)
    for place, action in faults:
        actor = world.spawn()
        while actor.state is RUNNING:
            hit = actor.taken == place and action in applicable(actor.instruction)
            world.step(actor, action if hit else None)
    conclude(world)
    return world
