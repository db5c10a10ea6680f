"""Each kind of keyed state, as PyFlink behaves."""

import pytest
from tests.unit.state.backends import plain

from headrace.common.errors import StateError, TypeMismatchError
from headrace.state.descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from headrace.state.heap_table import HeapMapTable
from headrace.state.interfaces import AggregatingState, ListState, MapState, ReducingState, ValueState
from headrace.state.key_groups import GroupCache
from headrace.state.opaque_key import OpaqueKey
from headrace.state.tombstone import TOMBSTONE


class Mean:
    def create_accumulator(self):
        return (0, 0)

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a, acc_b):
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


@pytest.fixture
def backend(new_backend):
    backend = new_backend()
    backend.key = "a"
    return backend


def entries(delta, name):
    """All entries of one state of a delta, by entry key."""
    return {key: value for group in delta.get(name, {}).values() for key, value in group}


def in_order(delta):
    return {n: {g: sorted(e, key=repr) for g, e in groups.items()} for n, groups in plain(delta).items()}


def test_value_state(backend):
    state = backend.get_state(ValueStateDescriptor("v", None))
    assert isinstance(state, ValueState)
    assert state.value() is None
    state.update(0)
    assert state.value() == 0
    backend.key = "b"
    assert state.value() is None
    state.update([1])
    backend.key = "a"
    assert state.value() == 0
    state.update(None)
    assert state.value() is None
    backend.key = "b"
    assert state.value() == [1]
    state.clear()
    assert state.value() is None


def test_list_state(backend):
    state = backend.get_state(ListStateDescriptor("l", None))
    assert isinstance(state, ListState)
    assert list(state.get()) == list(state) == []
    state.add(1)
    state.add_all([2, 3])
    state.add_all(n for n in (4, None))
    assert list(state) == [1, 2, 3, 4, None]
    state.update((9,))
    assert list(state.get()) == [9]
    state.update([])
    assert list(state.get()) == []
    assert backend.table("l", kind="ListState").data == {}
    state.add_all([])
    assert backend.table("l", kind="ListState").data == {}
    for bad in (state.update, state.add_all):
        with pytest.raises(TypeError):
            bad(None)


def test_list_state_is_not_aliased_with_what_comes_in_or_goes_out(backend):
    state = backend.get_state(ListStateDescriptor("l", None))
    given = [1, 2]
    state.update(given)
    given.append(3)
    state.get().append(4)
    assert state.get() == [1, 2]
    for value in state:  # would never end on a live list
        state.add(value + 10)
    assert state.get() == [1, 2, 11, 12]


def test_map_state(backend):
    state = backend.get_state(MapStateDescriptor("m", None, None))
    assert isinstance(state, MapState)
    assert state.is_empty()
    assert state.get("x") is None
    assert state["x"] is None
    assert not state.contains("x")
    assert list(state.keys()) == list(state.values()) == list(state.items()) == list(state) == []
    state.put("x", 1)
    state["y"] = 2
    state.put_all({"z": 3, "x": 4})
    assert list(state.items()) == [("x", 4), ("y", 2), ("z", 3)]
    assert list(state.keys()) == list(state) == ["x", "y", "z"]
    assert list(state.values()) == [4, 2, 3]
    assert next(state.keys()) == "x"
    assert "x" in state
    assert not state.is_empty()
    del state["x"]
    state.remove("x")
    state.remove("never there")
    assert "x" not in state
    backend.key = "b"
    assert state.is_empty()
    state.put(None, None)
    assert state.contains(None)
    assert list(state.items()) == [(None, None)]
    state.remove(None)
    assert state.is_empty()
    assert list(backend.table("m", kind="MapState").keys()) == ["a"]
    state.put_all({})
    assert state.is_empty()
    backend.key = "a"
    state.clear()
    assert state.is_empty()
    assert list(backend.table("m", kind="MapState").keys()) == []


def test_map_state_put_all_copies(backend):
    state = backend.get_state(MapStateDescriptor("m", None, None))
    given = {"x": 1}
    state.put_all(given)
    given["y"] = 2
    assert list(state) == ["x"]


def test_map_state_changed_while_iterated(backend):
    state = backend.get_state(MapStateDescriptor("m", None, None))
    state.put_all({"x": 1, "y": 2})
    if backend.large:
        for key in state:  # shows the map as it was when the loop began
            state.remove(key)
        assert state.is_empty()
        return
    with pytest.raises(RuntimeError):
        for key in state:
            state.remove(key)


def test_reducing_state(backend):
    state = backend.get_state(ReducingStateDescriptor("r", lambda a, b: None if b == 99 else a + b, None))
    assert isinstance(state, ReducingState)
    assert state.get() is None
    state.add(2)
    state.add(3)
    assert state.get() == 5
    state.add(None)
    assert state.get() is None
    state.add(1)
    state.add(99)
    assert state.get() is None
    state.add(7)
    state.clear()
    assert state.get() is None


def test_aggregating_state(backend):
    state = backend.get_state(AggregatingStateDescriptor("a", Mean(), None))
    assert isinstance(state, AggregatingState)
    assert state.get() is None
    state.add(2)
    state.add(4)
    assert state.get() == 3
    backend.key = "b"
    assert state.get() is None
    backend.key = "a"
    state.add(None)
    assert state.get() is None


def test_only_touched_keys_are_in_the_delta(backend):
    value = backend.get_state(ValueStateDescriptor("v", None))
    items = backend.get_state(MapStateDescriptor("m", None, None))
    elements = backend.get_state(ListStateDescriptor("l", None))
    for key in range(100):
        backend.key = key
        value.update(key)
        items.put("x", key)
        elements.add(key)
    backend.collect_delta()
    backend.key = 7
    assert (value.value(), items.get("x"), list(elements), "x" in items) == (7, 7, [7], True)
    assert backend.collect_delta() == {}
    items.put("y", 1)
    elements.add(8)
    backend.key = 8
    value.clear()
    items.remove("x")
    delta = backend.collect_delta()
    assert entries(delta, "v") == {8: TOMBSTONE}
    assert entries(delta, "m") == {(7, "y"): 1, (8, "x"): TOMBSTONE}
    assert entries(delta, "l") == {7: [7, 8]}
    assert backend.collect_delta() == {}


def test_clearing_nothing_leaves_no_trace(backend):
    for descriptor in (ValueStateDescriptor("v", None), ListStateDescriptor("l", None)):
        backend.get_state(descriptor).clear()
    backend.get_state(ValueStateDescriptor("v", None)).update(None)
    assert backend.collect_delta() == {}


def test_one_name_one_kind(backend):
    backend.get_state(ValueStateDescriptor("s", None)).update(1)
    assert backend.get_state(ValueStateDescriptor("s", None)).value() == 1
    with pytest.raises(StateError, match=r"'s' is a ValueState and cannot be used as a ListState"):
        backend.get_state(ListStateDescriptor("s", None))


def test_kind_is_checked_after_restore_too(backend, new_backend):
    backend.get_state(ValueStateDescriptor("s", None)).update(1)
    restored = new_backend()
    restored.apply(backend.snapshot_full(), backend.state_kinds())
    with pytest.raises(StateError, match=r"'s' is a ValueState and cannot be used as a MapState"):
        restored.get_state(MapStateDescriptor("s", None, None))
    restored.get_state(ValueStateDescriptor("s", None))
    late = new_backend()
    late.get_state(ListStateDescriptor("s", None))
    with pytest.raises(StateError, match="ValueState"):
        late.apply(backend.snapshot_full(), backend.state_kinds())


def test_not_a_descriptor(backend):
    with pytest.raises(TypeMismatchError):
        backend.get_state("count")


def test_no_current_key(new_backend):
    backend = new_backend()
    value = backend.get_state(ValueStateDescriptor("v", None))
    items = backend.get_state(MapStateDescriptor("m", None, None))
    for use in (
        value.value,
        lambda: value.update(1),
        value.clear,
        lambda: items.get("x"),
        lambda: items.put("x", 1),
        backend.current_key,
    ):
        with pytest.raises(StateError, match="only be used on a keyed stream"):
            use()
    assert backend.snapshot_full() == {}


def test_current_key_is_the_users(backend):
    assert backend.current_key() == "a"
    backend.key = OpaqueKey([1])
    assert backend.current_key() == [1]


def test_a_table_of_an_operator(backend):
    table = backend.table("reduce")
    assert backend.table("reduce") is table
    table.data["k"] = 5
    table.dirty.add("k")
    assert entries(backend.collect_delta(), "reduce") == {"k": 5}
    with pytest.raises(StateError, match="table per window"):
        backend.table("reduce", namespaced=True)


def test_a_namespaced_table_is_filed_by_its_key(backend, new_backend):
    single, windows = backend.table("plain"), backend.table("windows", namespaced=True)
    for key in ("a", "b", 3):
        single.data[key] = 1
        single.dirty.add(key)
        for window in (10, 20):
            windows.data[key, window] = window
            windows.dirty.add((key, window))
    delta = backend.collect_delta()
    assert {key: group for group, found in delta["plain"].items() for key, _ in found} == {
        key: group for group, found in delta["windows"].items() for (key, _), _ in found
    }
    restored = new_backend()
    restored.apply(delta)
    assert in_order(restored.snapshot_full()) == in_order(delta)  # nobody asked for the tables yet
    assert restored.table("windows", namespaced=True).data == windows.data


def test_unasked_state_survives_and_takes_later_deltas(backend, new_backend):
    state = backend.get_state(ValueStateDescriptor("v", None))
    for key in "abc":
        backend.key = key
        state.update(key)
    base = backend.snapshot_full()
    backend.collect_delta()
    backend.key = "a"
    state.clear()
    backend.key = "b"
    state.update("new")
    restored = new_backend()
    restored.apply(base)
    restored.apply(backend.collect_delta())
    assert entries(restored.snapshot_full(), "v") == {"b": "new", "c": "c"}
    asked = restored.get_state(ValueStateDescriptor("v", None))
    restored.key = "b"
    assert asked.value() == "new"
    assert restored.collect_delta() == {}


def test_timers_are_filed_with_the_backend(backend, new_backend):
    timers = backend.timers("event")
    assert backend.timers("event") is timers
    timers.register(10, "a", "w")
    backend.timers("processing").register(5, "b")
    restored = new_backend()
    restored.apply(backend.collect_delta())
    assert backend.collect_delta() == {}
    assert restored.timers("event").pop_due(100) == (10, "a", "w")
    assert restored.timers("processing").pop_due(100) == (5, "b", None)
    assert restored.timers("event").pop_due(100) is None
    late = new_backend()
    queue = late.timers("event")
    late.apply(backend.snapshot_full())
    assert queue.pop_due(100) == (10, "a", "w")


def test_timer_names_are_reserved(backend):
    with pytest.raises(StateError, match="must not start with"):
        backend.get_state(ValueStateDescriptor("_timer_state/event", None))


def test_a_map_key_without_a_hash_leaves_nothing_behind():
    table = HeapMapTable("m", "MapState")
    with pytest.raises(TypeError, match="unhashable"):
        table.put("a", [1], 1)
    assert table.is_empty("a")
    assert table.collect_delta(GroupCache(1)) == {}


def test_a_map_entry_that_comes_and_goes_between_two_deltas_leaves_no_trace_but_a_filed_one_does():
    table = HeapMapTable("m", "MapState")
    table.put("a", "filed", 1)
    table.collect_delta(GroupCache(1))
    for key in ("filed", "new"):
        table.put("a", key, 2)
        table.remove("a", key)
        table.put("a", key, 3)
        table.remove("a", key)
    table.put("b", "cleared", 1)
    table.clear("b")
    assert table.collect_delta(GroupCache(1)) == {0: [(("a", "filed"), TOMBSTONE)]}
