"""The production driver under every crash, pairs of them, zombies, damage and random schedules; and broken variants, caught.

`scripts/protocol-model` runs more of the same; docs/internals/checkpoint-protocol.md explains the model.
"""

import pytest
from protocol_kit.campaign import SMALL, first_violation, replay, run_campaign
from protocol_kit.mutants import MUTANTS
from protocol_kit.schedules import conclude, life_of, run_random
from protocol_kit.world import ENDED, FENCED, World

from headrace.foundation.faultpoints import POINTS

SEED = 20_000_000


@pytest.fixture(scope="module")
def campaign():
    return run_campaign(SMALL, SEED)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_schedule_breaks_an_invariant(campaign):
    assert campaign.violations == []
    assert sum(campaign.runs.values()) >= 20_000


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_point_is_reached_and_every_end_occurs(campaign):
    assert campaign.unreached == []
    assert min(campaign.reached[p] for p in POINTS) >= 20
    assert campaign.ends[FENCED] >= 100
    assert campaign.ends["refused"] >= 20


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_broken_protocol_is_caught(mutant):
    caught = first_violation(6000, SEED, **MUTANTS[mutant])
    assert caught is not None, f"{mutant} was not caught"
    _, label, _ = caught
    with pytest.raises(AssertionError):
        replay(label, **MUTANTS[mutant])
    replay(label)  # the correct protocol passes the same schedule


def test_a_run_without_faults():
    world = World(length=6)
    driver = world.spawn()
    world.run(driver)
    assert driver.state == ENDED
    assert conclude(world) == ENDED
    assert world.steps > len(life_of(length=6))


def test_a_seed_gives_the_same_run():
    for seed in range(50):
        one, two = run_random(seed), run_random(seed)
        assert one.steps == two.steps
        assert one.store.all_names() == two.store.all_names()
        assert one.verifier.visible == two.verifier.visible
