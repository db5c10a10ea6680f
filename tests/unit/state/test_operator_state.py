"""State without keys: broadcast, list, union list, and how it is spread."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.common.errors import StateError
from headrace.common.time import Time
from headrace.state.descriptors import ListStateDescriptor, MapStateDescriptor
from headrace.state.interfaces import BroadcastState, ReadOnlyBroadcastState
from headrace.state.operator_state import OperatorSnapshot, OperatorStateBackend, redistribute, split_evenly
from headrace.state.ttl import StateTtlConfig

RULES = MapStateDescriptor("rules", None, None)
OFFSETS = ListStateDescriptor("offsets", None)


def test_broadcast_state():
    state = OperatorStateBackend().get_broadcast_state(RULES)
    assert isinstance(state, BroadcastState)
    assert state.is_empty()
    assert state.get("x") is None
    state.put("x", 1)
    state["y"] = 2
    state.put_all({"z": 3})
    assert list(state.items()) == [("x", 1), ("y", 2), ("z", 3)]
    assert (list(state.keys()), list(state.values()), list(state)) == (["x", "y", "z"], [1, 2, 3], ["x", "y", "z"])
    del state["x"]
    state.remove("never there")
    assert "x" not in state
    assert state.contains("y")
    assert state["y"] == 2
    state.clear()
    assert state.is_empty()


def test_read_only_view():
    state = OperatorStateBackend().get_broadcast_state(RULES)
    view = state.read_only()
    assert isinstance(view, ReadOnlyBroadcastState)
    assert not isinstance(view, BroadcastState)
    state.put("x", 1)
    assert view.get("x") == view["x"] == 1
    assert list(view.items()) == [("x", 1)]
    assert not hasattr(view, "put")
    with pytest.raises(TypeError):
        view["x"] = 2
    with pytest.raises(StateError, match="read-only"):
        view.clear()


def test_list_states():
    backend = OperatorStateBackend()
    split, union = backend.get_list_state(OFFSETS), backend.get_union_list_state(ListStateDescriptor("u", None))
    split.add(1)
    split.add_all([2, 3])
    union.update([4])
    assert list(split) == split.get() == [1, 2, 3]
    split.get().append(9)
    assert backend.get_list_state(OFFSETS).get() == [1, 2, 3]
    assert backend.snapshot() == OperatorSnapshot(split={"offsets": [1, 2, 3]}, union={"u": [4]})
    split.update([])
    union.clear()
    assert backend.snapshot() == OperatorSnapshot(split={"offsets": []}, union={"u": []})


def test_one_name_one_mode():
    backend = OperatorStateBackend()
    backend.get_list_state(OFFSETS)
    with pytest.raises(StateError, match="'offsets' is a list state and cannot be used as a union list state"):
        backend.get_union_list_state(OFFSETS)
    with pytest.raises(StateError, match="broadcast state"):
        backend.get_broadcast_state(MapStateDescriptor("offsets", None, None))


def test_time_to_live_is_refused():
    descriptor = MapStateDescriptor("rules", None, None)
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(1)).build())
    with pytest.raises(StateError, match="time to live"):
        OperatorStateBackend().get_broadcast_state(descriptor)


def test_only_changes_are_collected():
    backend = OperatorStateBackend()
    rules, offsets = backend.get_broadcast_state(RULES), backend.get_list_state(OFFSETS)
    assert backend.collect_changed() is None
    rules.put("a", 1)
    assert backend.collect_changed() == OperatorSnapshot(split={"offsets": []}, broadcast={"rules": {"a": 1}})
    assert rules.get("a") == 1
    assert backend.collect_changed() is None
    offsets.add(1)
    assert backend.collect_changed() is not None


def test_restore_keeps_states_that_are_in_use():
    backend = OperatorStateBackend()
    rules, offsets = backend.get_broadcast_state(RULES), backend.get_list_state(OFFSETS)
    rules.put("old", 1)
    offsets.add("old")
    snapshot = OperatorSnapshot(split={"offsets": [1]}, union={"u": [2]}, broadcast={"rules": {"a": 1}})
    backend.restore(pickle.loads(pickle.dumps(snapshot)))
    assert list(rules.items()) == [("a", 1)]
    assert offsets.get() == [1]
    assert backend.snapshot() == snapshot
    assert backend.collect_changed() is None
    rules.put("b", 2)
    assert snapshot.broadcast == {"rules": {"a": 1}}


def test_same_parallelism_keeps_lists_in_place():
    old = [OperatorSnapshot(split={"o": [1, 2, 3]}, union={"u": [1]}), OperatorSnapshot(union={"u": [2]})]
    new = redistribute(old, 2)
    assert [snapshot.split for snapshot in new] == [{"o": [1, 2, 3]}, {}]
    assert [snapshot.union for snapshot in new] == [{"u": [1, 2]}, {"u": [1, 2]}]


def test_broadcast_goes_round():
    old = [OperatorSnapshot(broadcast={"r": {"from": n}}) for n in range(2)]
    assert [snapshot.broadcast["r"]["from"] for snapshot in redistribute(old, 5)] == [0, 1, 0, 1, 0]
    assert [snapshot.broadcast["r"]["from"] for snapshot in redistribute(old, 1)] == [0]


def test_odd_elements_of_several_states_go_to_different_subtasks():
    old = [OperatorSnapshot(split={"a": [1], "b": [2], "c": [3, 4]})]
    assert [snapshot.split for snapshot in redistribute(old, 3)] == [
        {"a": [1], "b": [], "c": [4]},
        {"a": [], "b": [2], "c": []},
        {"a": [], "b": [], "c": [3]},
    ]


def test_nothing_to_redistribute():
    assert redistribute([], 2) == [OperatorSnapshot(), OperatorSnapshot()]


def flink_split(elements, parallelism, start):
    """Flink's loop, with its running remainder, to compare with."""
    base, remainder = divmod(len(elements), parallelism)
    new_start, position, runs = start, 0, [[] for _ in range(parallelism)]
    for i in range(parallelism):
        index, count = (i + start) % parallelism, base
        if remainder > 0:
            count, remainder = count + 1, remainder - 1
        elif remainder == 0:
            new_start, remainder = index, -1
        runs[index] = elements[position : position + count]
        position += count
    return runs, new_start


@given(st.integers(0, 40), st.integers(1, 9), st.integers(0, 8))
def test_split_is_flinks(length, parallelism, start):
    elements = list(range(length))
    assert split_evenly(elements, parallelism, start % parallelism) == flink_split(
        elements, parallelism, start % parallelism
    )


@given(st.lists(st.lists(st.integers()), min_size=1, max_size=5), st.integers(1, 6))
def test_nothing_is_lost_or_doubled(lists, parallelism):
    new = redistribute([OperatorSnapshot(split={"o": elements}) for elements in lists], parallelism)
    found = [element for snapshot in new for element in snapshot.split.get("o", [])]
    assert found == [element for elements in lists for element in elements]
    if parallelism != len(lists):
        lengths = [len(snapshot.split["o"]) for snapshot in new]
        assert max(lengths) - min(lengths) <= 1
