"""Runs in which a record or state file is damaged or vanishes between two drivers: the result must match the decision table."""

from __future__ import annotations

import random
from typing import Any

from headrace.checkpoint import names
from headrace.checkpoint.model import Seal
from protocol_kit.schedules import conclude
from protocol_kit.world import ENDED, REFUSED, RUNNING, World


def run_damage(seed: int, **options: Any) -> World:
    """Kill one or two drivers at any step, damage or remove one thing; the next driver must refuse or recover."""
    dice = random.Random(seed)
    options.setdefault("length", dice.choice((2, 4, 6)))
    options.setdefault("retained", dice.choice((1, 2)))
    options.setdefault("tolerable", dice.choice((0, 9)))
    world = World(**options)
    for _ in range(dice.choice((1, 1, 2))):
        driver = world.spawn()
        for _ in range(dice.randint(1, 220)):
            if driver.state is RUNNING:
                world.step(driver)
        world.kill(driver)
    found = [n for n in world.store.all_names() if not n.startswith((names.GENERATIONS, names.TEMPORARIES))]
    if not found:
        conclude(world)
        return world
    name = dice.choice(found)
    refuse = must_refuse(world, name)
    vanish = dice.random() < 0.4 and may_vanish(world, name)
    world.damaged = 1
    if vanish:
        world.store.vanish(name)
    else:
        world.store.damage(name)
    before = world.verifier.visible.copy()
    how = conclude(world)
    if how != (REFUSED if refuse else ENDED):
        world.verifier.fail("I10", f"{name} {'vanished' if vanish else 'rotted'}: the driver {how}, against the table")
    if how is REFUSED and world.verifier.visible != before:
        world.verifier.fail("I10", "output became visible although the driver refused")
    return world


def must_refuse(world: World, name: str) -> bool:
    """Apply the table to what actually happened: the base is damaged, and someone may have seen its output, or the
    checkpoint before it is damaged as well.
    """
    base = world.verifier.base()
    if base is None:
        return False
    damaged = {names.entry_name(base.epoch), *(names.FILES + f.name for f in base.files)}
    marked = names.marker_name(base.epoch) in world.store.folders[names.MARKERS]
    before = world.store.truth(names.entry_name(base.parent)) if base.parent is not None else None
    both = before is not None and name in {names.FILES + f.name for f in before.files}
    return name in damaged and (marked or both or not world.sink.untouched(base.epoch))


def may_vanish(world: World, name: str) -> bool:
    """Return whether the loss of a file must be noticed. A durable log entry does not vanish by itself."""
    if not name.startswith(names.LOG):
        return True
    if isinstance(world.store.truth(name), Seal):
        return True
    number = names.number_of(name)
    assert number is not None
    return names.marker_name(number) in world.store.folders[names.MARKERS]
