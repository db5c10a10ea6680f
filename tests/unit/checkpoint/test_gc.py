"""What is dead, what is kept, and in which order the dead go."""

from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.checkpoint import names
from headrace.checkpoint.gc import classify, leftover_handles, retained_manifests
from headrace.checkpoint.model import Committable, FileEntry, Manifest, Observation, Seal
from headrace.connectors.base.sink_committer import Handle


def file(epoch, generation=1, owner="v"):
    return FileEntry(owner, f"{owner}-0-e{epoch:010d}-g{generation:010d}-x", 1, 1)


def manifest(epoch, parent, *files):
    return Manifest("job", 1, epoch, "a", parent, tuple(files))


CHAIN = {
    3: manifest(3, None, file(1), file(3)),
    4: Seal("job", 2, 4, "s", 3),
    5: manifest(5, 3, file(1), file(5, 2)),
    6: manifest(6, 5, file(6, 2)),
}
SEEN = Observation((1, 2), CHAIN)
LISTED = [
    *(names.entry_name(n) for n in (3, 4, 5, 6)),
    *(names.marker_name(n) for n in (2, 3, 5, 6)),
    names.plan_name(6, 2, "a"),
    names.plan_name(7, 2, "a"),
    names.plan_name(7, 1, "zombie"),
    *(names.FILES + f.name for f in (file(1), file(3), file(5, 2), file(6, 2))),
    names.FILES + file(7, 2).name,  # being written
    names.FILES + file(7, 1).name,  # a zombie's
    names.FILES + file(8, 3).name,  # a later driver's
    names.FILES + "notes.txt",
    names.temporary_name(1, "x"),
    names.temporary_name(2, "y"),
    names.temporary_name(3, "z"),
    names.generation_name(1),
    names.generation_name(2),
    names.generation_name(3),
]


def test_the_chain_follows_parents():
    assert [m.epoch for m in retained_manifests(SEEN, CHAIN[6], 1)] == [6]
    assert [m.epoch for m in retained_manifests(SEEN, CHAIN[6], 9)] == [6, 5, 3]
    assert retained_manifests(SEEN, None, 3) == []


def test_everything_has_its_class():
    garbage = classify(SEEN, LISTED, [], CHAIN[6], 2)
    assert set(garbage.names) == {
        *(names.entry_name(n) for n in (3, 4, 5)),
        *(names.marker_name(n) for n in (2, 3, 5)),
        names.plan_name(6, 2, "a"),
        names.plan_name(7, 1, "zombie"),
        *(names.FILES + f.name for f in (file(1), file(3), file(5, 2), file(7, 1))),
        names.temporary_name(1, "x"),
        names.temporary_name(2, "y"),
        names.generation_name(1),
    }
    assert garbage.kept == (names.FILES + "notes.txt",)


def test_retained_checkpoints_keep_their_files():
    dead = classify(SEEN, LISTED, [], CHAIN[6], 2, retained=2).names
    assert names.entry_name(5) not in dead
    assert names.marker_name(5) not in dead
    assert names.FILES + file(1).name not in dead
    assert names.FILES + file(3).name in dead


def test_oldest_first_and_a_slot_before_its_files():
    dead = list(classify(SEEN, LISTED, [], CHAIN[6], 2).names)
    place = dead.index
    assert place(names.marker_name(2)) < place(names.entry_name(3)) < place(names.entry_name(5))
    assert place(names.entry_name(3)) < place(names.marker_name(3)) < place(names.FILES + file(3).name)
    assert dead[-1] == names.generation_name(1)


def test_without_a_base_only_older_generations_are_dead():
    dead = classify(Observation((1, 2)), LISTED, [], None, 2).names
    assert all("g0000000001" in n or n in (names.generation_name(1), names.temporary_name(2, "y")) for n in dead)


def test_handles():
    listed = Committable("s", Handle("listed", 0, checkpoint=6, generation=2))
    base = Manifest("job", 2, 6, "a", 5, (), (listed,))
    older = Committable("s", Handle("older", 0, checkpoint=9, generation=1))
    loser = Committable("s", Handle("loser", 0, checkpoint=6, generation=2))
    running = Committable("s", Handle("running", 0, checkpoint=7, generation=2))
    later = Committable("s", Handle("later", 0, checkpoint=7, generation=3))
    assert leftover_handles([listed, older, loser, running, later], base, 2) == [older, loser]


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_no_live_file_is_ever_dead(data):
    count = data.draw(st.integers(1, 6))
    slots, everything, parent = {}, [], None
    for epoch in range(1, count + 1):
        shared = [f for f in everything if data.draw(st.booleans())]
        fresh = file(epoch, data.draw(st.integers(1, 3)))
        slots[epoch] = manifest(epoch, parent, *shared, fresh)
        everything.append(fresh)
        parent = epoch
    retained = data.draw(st.integers(1, 3))
    listed = [names.FILES + f.name for f in everything] + [names.entry_name(e) for e in slots]
    dead = set(classify(Observation((3,), slots), listed, [], slots[count], 3, retained).names)
    for epoch in range(max(1, count - retained + 1), count + 1):
        assert names.entry_name(epoch) not in dead
        assert not dead & {names.FILES + f.name for f in slots[epoch].files}
