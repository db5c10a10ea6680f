"""Timers against a sorted list."""

import pickle
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headrace.state.disk_file import DiskFile
from headrace.state.disk_store import DiskStore
from headrace.state.disk_timers import DiskTimerQueue
from headrace.state.key_groups import key_group, key_group_range
from headrace.state.timers import TimerQueue
from headrace.state.tombstone import TOMBSTONE

GROUPS = 8


def group_of(key):
    return key_group(key, GROUPS)


class SmallQueue(DiskTimerQueue):
    """Keeps at most two timers in memory, whatever happens."""

    __slots__ = ()

    def register(self, timestamp, key, namespace=None):
        super().register(timestamp, key, namespace)
        self.make_room()

    def __del__(self):
        self._store.close()


def small_queue():
    store = DiskStore(Path(tempfile.mkdtemp(prefix="headrace-test-")), 1 << 20)
    return SmallQueue(group_of, store, DiskFile(store, 0, lambda timer: group_of(timer[1])), 1, 2)


MAKERS = {"memory": lambda: TimerQueue(group_of), "disk": small_queue}


@pytest.fixture(params=sorted(MAKERS))
def new_queue(request):
    return MAKERS[request.param]


def drain(queue, limit=10**30):
    result = []
    while (timer := queue.pop_due(limit)) is not None:
        result.append(timer)
    return result


def test_order_is_by_time_then_by_registration(new_queue):
    queue = new_queue()
    for timestamp, key in [(5, "z"), (1, "b"), (5, 1), (1, None), (-3, "x"), (5, "a")]:
        queue.register(timestamp, key)
    assert drain(queue) == [
        (-3, "x", None),
        (1, "b", None),
        (1, None, None),
        (5, "z", None),
        (5, 1, None),
        (5, "a", None),
    ]
    assert queue.next_timestamp() is None
    assert len(queue) == 0


def test_registering_twice_and_deleting(new_queue):
    queue = new_queue()
    for _ in range(3):
        queue.register(5, "a")
    queue.register(5, "a", "window")
    assert len(queue) == 2
    queue.delete(5, "a")
    queue.delete(5, "a")
    queue.delete(6, "a")
    assert drain(queue) == [(5, "a", "window")]


def test_registered_again_it_takes_its_new_place(new_queue):
    queue = new_queue()
    queue.register(5, "a")
    queue.register(5, "b")
    queue.delete(5, "a")
    queue.register(5, "a")
    assert [timer[1] for timer in drain(queue)] == ["b", "a"]


def test_timers_registered_while_firing_fire_in_the_same_loop_in_order(new_queue):
    queue = new_queue()
    queue.register(10, "a")
    queue.register(30, "a")
    fired = []
    while (timer := queue.pop_due(30)) is not None:
        fired.append(timer[0])
        if timer[0] == 10:
            queue.register(40, "a")
            queue.register(20, "a")
            queue.register(5, "a")  # late, but due
            queue.register(10, "a")
            if fired.count(10) == 2:
                queue.delete(10, "a")
                queue.delete(5, "a")
    assert fired == [10, 5, 10, 20, 30]
    assert queue.next_timestamp() == 40


def test_timestamps_beyond_the_largest_long(new_queue):
    queue = new_queue()
    queue.register(2**63 - 1, "end")
    queue.register(2**70, "beyond")
    queue.register(-(2**63), "start")
    assert [timer[1] for timer in drain(queue, 2**63 - 1)] == ["start", "end"]
    assert queue.next_timestamp() == 2**70


def test_deleted_timers_do_not_pile_up(new_queue):
    queue = new_queue()
    for n in range(20_000):
        queue.register(n + 1000, "a")
        queue.delete(n + 1000, "a")
    assert len(queue) == 0
    assert len(queue._heap) + len(queue._ordered) < 5000
    assert queue.next_timestamp() is None


def test_a_timer_that_comes_and_goes_within_an_epoch_leaves_no_trace(new_queue):
    queue = new_queue()
    queue.register(1, "a")
    queue.register(2, "b")
    assert queue.pop_due(1) == (1, "a", None)
    queue.delete(2, "b")
    assert queue.collect_delta() == {}
    queue.register(3, "c")
    assert sum(map(len, queue.collect_delta().values())) == 1
    queue.delete(3, "c")
    queue.register(3, "c")
    assert queue.pop_due(3) == (3, "c", None)
    assert queue.collect_delta() == {group_of("c"): [((3, "c", None), TOMBSTONE)]}
    assert queue.collect_delta() == {}


class Oracle:
    def __init__(self):
        self.timers = []

    def register(self, *timer):
        if timer not in self.timers:
            self.timers.append(timer)
            self.timers.sort(key=lambda timer: timer[0])

    def delete(self, *timer):
        if timer in self.timers:
            self.timers.remove(timer)

    def pop_due(self, limit):
        if self.timers and self.timers[0][0] <= limit:
            return self.timers.pop(0)
        return None


timer = st.tuples(st.integers(0, 12), st.sampled_from(["a", "b", 3, None]), st.sampled_from([None, "w"]))
operations = st.lists(
    st.one_of(
        st.tuples(st.just("register"), timer),
        st.tuples(st.just("register"), timer),
        st.tuples(st.just("delete"), timer),
        st.tuples(st.just("pop"), st.integers(0, 12)),
        st.tuples(st.just("epoch"), st.none()),
        st.tuples(st.just("restore"), st.none()),
        st.tuples(st.just("many"), st.integers(0, 12)),
    ),
    max_size=60,
)


def merged(files):
    """What a fold of the files gives."""
    groups = {}
    for delta in map(pickle.loads, files):
        for group, entries in delta.items():
            groups.setdefault(group, {}).update(entries)
    return {group: [e for e in entries.items() if e[1] is not TOMBSTONE] for group, entries in groups.items()}


@pytest.mark.parametrize("kind", sorted(MAKERS))
@settings(max_examples=150, deadline=None)
@given(plan=operations)
@example(
    plan=[
        ("register", (0, "a", None)),
        ("register", (0, 3, None)),
        ("register", (1, "a", None)),
        ("pop", 0),
        ("delete", (0, 3, None)),
    ]
)
def test_timers_agree_with_a_sorted_list(kind, plan):
    new_queue = MAKERS[kind]
    queue, oracle, files = new_queue(), Oracle(), []
    for operation, argument in plan:
        if operation in ("register", "delete"):
            getattr(queue, operation)(*argument)
            getattr(oracle, operation)(*argument)
        elif operation == "many":
            for n in range(70):  # enough to be sorted in
                queue.register((argument * 31 + n * 7) % 13, n)
                oracle.register((argument * 31 + n * 7) % 13, n, None)
        elif operation == "pop":
            assert queue.pop_due(argument) == oracle.pop_due(argument)
        else:
            files.append(pickle.dumps(queue.collect_delta()))
            if operation == "restore":
                queue = new_queue()
                queue.apply(merged(files), range(GROUPS))
                assert queue.collect_delta() == {}
        assert len(queue) == len(oracle.timers)
        assert queue.next_timestamp() == (oracle.timers[0][0] if oracle.timers else None)
    assert {t for entries in queue.snapshot_full().values() for t, _ in entries} == set(oracle.timers)
    expected = list(oracle.timers)
    assert drain(queue) == expected


@pytest.mark.parametrize("parallelism", [1, 2, 3, 8])
def test_rescaling_moves_timers_with_their_keys(new_queue, parallelism):
    old = {}
    for n in range(200):
        key = f"k{n}"
        subtask = group_of(key) // 4
        queue = old.setdefault(subtask, new_queue())
        queue.register(n % 7, key)
    snapshots = [queue.snapshot_full() for queue in old.values()]
    seen = []
    for subtask in range(parallelism):
        groups = key_group_range(subtask, GROUPS, parallelism)
        new = new_queue()
        for snapshot in snapshots:
            new.apply(snapshot, groups)
        delta = new.collect_delta()
        again = new_queue()
        for snapshot in snapshots:  # the old files with what was written since on top of them
            again.apply(snapshot, groups)
        again.apply(delta, groups)
        fired = drain(new)
        assert drain(again) == fired
        assert [t[0] for t in fired] == sorted(t[0] for t in fired)
        assert all(group_of(t[1]) in groups for t in fired)
        seen += fired
    assert sorted(seen) == sorted((n % 7, f"k{n}", None) for n in range(200))


def test_after_a_clash_of_numbers_firing_still_leaves_tombstones(new_queue):
    one, two = new_queue(), new_queue()
    one.register(1, "a")
    two.register(1, "b")
    new = new_queue()
    new.apply(one.snapshot_full(), range(GROUPS))
    new.apply(two.snapshot_full(), range(GROUPS))
    assert new.pop_due(1) is not None
    entries = [entry for found in new.collect_delta().values() for entry in found]
    # In memory the other timer has got a new number; on disk numbers of two subtasks do not clash.
    renumbered = [] if isinstance(new, DiskTimerQueue) else [False]
    assert sorted(value is TOMBSTONE for _, value in entries) == [*renumbered, True]
