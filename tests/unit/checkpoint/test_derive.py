"""The five situations, from what is on disk."""

import pytest

from headrace.checkpoint.derive import Base, Situation, derive, with_bad_file
from headrace.checkpoint.model import Damaged, Manifest, Marker, Observation, Seal


def manifest(epoch, parent=None, generation=1):
    return Manifest("job", generation, epoch, f"a{epoch}", parent)


def seal(epoch, parent, generation=2):
    return Seal("job", generation, epoch, "s", parent)


def marker(epoch):
    return Marker("job", 1, epoch, "a")


ROT = Damaged("slots/x", "torn")


@pytest.mark.parametrize(
    ("slots", "markers", "situation", "epoch"),
    [
        ({}, {}, Situation.EMPTY, 0),
        ({1: seal(1, None)}, {}, Situation.EMPTY, 0),
        ({1: manifest(1)}, {}, Situation.UNFINISHED, 1),
        ({1: manifest(1)}, {1: marker(1)}, Situation.FINISHED, 1),
        ({1: manifest(1)}, {1: ROT}, Situation.UNFINISHED, 1),
        ({1: manifest(1), 2: manifest(2, 1)}, {1: marker(1)}, Situation.UNFINISHED, 2),
        ({1: manifest(1), 2: seal(2, 1)}, {1: marker(1)}, Situation.FINISHED, 1),
        ({1: manifest(1), 2: seal(2, 1), 3: seal(3, 1)}, {}, Situation.UNFINISHED, 1),
        ({1: manifest(1), 2: manifest(2, 1), 3: seal(3, 1)}, {1: marker(1)}, Situation.FINISHED, 1),
        ({2: manifest(2, 1)}, {2: marker(2)}, Situation.FINISHED, 2),
        ({1: manifest(1), 2: ROT}, {1: marker(1)}, Situation.DAMAGED, 2),
        ({1: manifest(1)}, {1: marker(1), 2: marker(2)}, Situation.DAMAGED, 2),
        ({}, {3: marker(3)}, Situation.DAMAGED, 3),
        ({3: seal(3, 2)}, {2: marker(2)}, Situation.DAMAGED, 2),
        ({2: seal(2, 1), 3: seal(3, 2)}, {}, Situation.DAMAGED, 2),
    ],
)
def test_situations(slots, markers, situation, epoch):
    derived = derive(Observation((1, 2), slots, markers), 2)
    assert (derived.situation, derived.epoch) == (situation, epoch)


@pytest.mark.parametrize(
    "seen",
    [
        Observation((1, 2)),
        Observation((1,), {1: manifest(1, generation=2)}),
        Observation((1,), {1: seal(1, None, generation=3)}),
        Observation((2,), {1: ROT}),
    ],
)
def test_a_later_generation_anywhere_means_fenced(seen):
    derived = derive(seen, 1)
    assert derived.situation is Situation.FENCED
    assert derived.newer > 1


def test_an_older_generations_manifest_is_no_reason_to_stop():
    assert derive(Observation((1, 2), {1: manifest(1)}), 2).situation is Situation.UNFINISHED


@pytest.mark.parametrize(
    ("slots", "markers", "fallback"),
    [
        ({1: ROT}, {}, Base(None)),
        ({1: manifest(1), 2: ROT}, {1: marker(1)}, Base(manifest(1))),
        ({1: manifest(1), 2: ROT}, {}, Base(manifest(1), finished=False)),
        ({1: manifest(1), 2: seal(2, 1), 3: ROT}, {1: marker(1)}, Base(manifest(1))),
        ({1: seal(1, None), 2: ROT}, {}, Base(None)),
        ({1: ROT, 2: ROT}, {}, None),
        ({5: ROT}, {}, None),
    ],
)
def test_the_one_place_to_go_back_to(slots, markers, fallback):
    derived = derive(Observation((1,), slots, markers), 2)
    assert derived.situation is Situation.DAMAGED
    assert derived.fallback == fallback


def test_a_bad_file_makes_the_base_damaged_and_keeps_the_rest():
    derived = derive(Observation((1,), {1: manifest(1), 2: manifest(2, 1)}, {1: marker(1), 2: marker(2)}), 1)
    bad = with_bad_file(derived, Damaged("state/f", "missing"))
    assert bad.situation is Situation.DAMAGED
    assert bad.marked
    assert bad.fallback == Base(manifest(1))


def test_work_beyond_the_base_is_noticed():
    slots, markers = {1: manifest(1)}, {1: marker(1)}
    assert not derive(Observation((1,), slots, markers, planned=(1,)), 1).begun
    assert derive(Observation((1,), slots, markers, planned=(1, 2)), 1).begun
