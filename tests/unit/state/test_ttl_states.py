"""States with a time to live, against Flink's rules, with a clock that the tests move."""

from __future__ import annotations

import pytest
from tests.unit.state.backends import KINDS, make_backend, plain

from headrace.common import Duration, Time, Types
from headrace.common.errors import StateError
from headrace.state.descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from headrace.state.tombstone import TOMBSTONE
from headrace.state.ttl import StateTtlConfig

TTL = 1000


class Clock:
    def __init__(self) -> None:
        self.time = 50_000

    def __call__(self) -> int:
        return self.time

    def after(self, milliseconds: int) -> None:
        self.time += milliseconds


class Sum:
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value

    def get_result(self, accumulator):
        return f"sum {accumulator}"

    def merge(self, a, b):
        return a + b


IN_MEMORY = pytest.mark.parametrize("new_backend", ["heap"], indirect=True)
"""As in Flink, some ways to clean up are for state in memory only."""
ON_DISK = pytest.mark.parametrize("new_backend", [kind for kind in KINDS if kind != "heap"], indirect=True)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def backend(clock, new_backend):
    backend = new_backend()
    backend.now = clock
    backend.key = "k"
    return backend


def builder():
    return StateTtlConfig.new_builder(Time.milliseconds(TTL)).disable_cleanup_in_background()


def state(backend, descriptor, config=None):
    descriptor.enable_time_to_live((config or builder()).build())
    return backend.get_state(descriptor)


def value(backend, config=None):
    return state(backend, ValueStateDescriptor("v", Types.LONG()), config)


def elements(backend, config=None):
    return state(backend, ListStateDescriptor("l", Types.LONG()), config)


def entries(backend, config=None):
    return state(backend, MapStateDescriptor("m", Types.STRING(), Types.LONG()), config)


def test_a_value_lives_until_its_time_is_up(backend, clock):
    v = value(backend)
    assert v.value() is None
    v.update(1)
    clock.after(TTL - 1)
    assert v.value() == 1
    clock.after(1)
    assert v.value() is None


def test_a_write_starts_the_time_anew_and_a_read_does_not(backend, clock):
    v = value(backend)
    v.update(1)
    clock.after(600)
    assert v.value() == 1
    v.update(2)
    clock.after(600)
    assert v.value() == 2
    clock.after(400)
    assert v.value() is None


def test_on_read_and_write_a_read_starts_the_time_anew(backend, clock):
    v = value(backend, builder().update_ttl_on_read_and_write())
    v.update(1)
    for _ in range(5):
        clock.after(600)
        assert v.value() == 1
    clock.after(TTL)
    assert v.value() is None


def test_an_expired_value_may_be_seen_once_if_asked_for(backend, clock):
    v = value(backend, builder().return_expired_if_not_cleaned_up())
    v.update(1)
    clock.after(5 * TTL)
    assert v.value() == 1
    assert v.value() is None


def test_none_and_clear_remove_the_value(backend):
    v = value(backend)
    v.update(1)
    v.update(None)
    assert v.value() is None
    v.update(2)
    v.clear()
    assert v.value() is None


def test_keys_have_times_of_their_own(backend, clock):
    v = value(backend)
    v.update(1)
    clock.after(600)
    backend.key = "other"
    v.update(2)
    clock.after(600)
    assert v.value() == 2
    backend.key = "k"
    assert v.value() is None


def test_each_element_of_a_list_has_its_time(backend, clock):
    s = elements(backend)
    s.add(1)
    clock.after(600)
    s.add_all([2, 3])
    assert s.get() == [1, 2, 3]
    clock.after(600)
    assert s.get() == [2, 3]
    clock.after(600)
    assert s.get() == []
    assert list(backend.keys_of(ListStateDescriptor("l", None))) == []
    s.update([4])
    assert s.get() == [4]
    s.update([])
    assert s.get() == []


def test_reading_a_list_can_start_the_time_of_its_elements_anew(backend, clock):
    s = elements(backend, builder().update_ttl_on_read_and_write())
    s.add(1)
    clock.after(600)
    s.add(2)
    assert s.get() == [1, 2]
    clock.after(600)
    assert s.get() == [1, 2]


def test_expired_elements_may_be_seen_once(backend, clock):
    s = elements(backend, builder().return_expired_if_not_cleaned_up())
    s.add(1)
    clock.after(600)
    s.add(2)
    clock.after(600)
    assert s.get() == [1, 2]
    assert s.get() == [2]


def test_each_entry_of_a_map_has_its_time(backend, clock):
    m = entries(backend)
    m.put("a", 1)
    clock.after(600)
    m.put_all({"b": 2})
    m["c"] = 3
    assert dict(m.items()) == {"a": 1, "b": 2, "c": 3}
    clock.after(600)
    assert m.get("a") is None and not m.contains("a") and "a" not in m
    assert list(m.keys()) == ["b", "c"] and list(m.values()) == [2, 3] and not m.is_empty()
    m.remove("b")
    assert m.get("b") is None and m.get("c") == 3
    clock.after(600)
    assert m.is_empty() and list(backend.keys_of(MapStateDescriptor("m", None, None))) == []


def test_reading_an_entry_can_start_its_time_anew(backend, clock):
    m = entries(backend, builder().update_ttl_on_read_and_write())
    m.put_all({"a": 1, "b": 2})
    clock.after(600)
    assert m.get("a") == 1
    clock.after(600)
    assert dict(m.items()) == {"a": 1}
    clock.after(600)
    assert list(m.keys()) == ["a"], "the look at the whole map counted too"


def test_expired_entries_may_be_seen_once(backend, clock):
    m = entries(backend, builder().return_expired_if_not_cleaned_up())
    m.put_all({"a": 1, "b": 2, "c": 3})
    clock.after(TTL)
    assert m.get("a") == 1 and m.get("a") is None
    assert m.contains("b") and not m.contains("b")
    assert dict(m.items()) == {"c": 3} and m.is_empty()


def test_reducing_starts_from_nothing_after_expiry(backend, clock):
    lax = builder().return_expired_if_not_cleaned_up()
    s = state(backend, ReducingStateDescriptor("r", lambda a, b: a + b, Types.LONG()), lax)
    s.add(1)
    clock.after(600)
    s.add(2)
    assert s.get() == 3
    clock.after(TTL)
    s.add(5)
    assert s.get() == 5
    s.add(None)
    assert s.get() is None


def test_aggregating_starts_from_nothing_after_expiry(backend, clock):
    s = state(backend, AggregatingStateDescriptor("a", Sum(), Types.LONG()))
    s.add(1)
    clock.after(600)
    s.add(2)
    assert s.get() == "sum 3"
    clock.after(TTL)
    assert s.get() is None
    s.add(5)
    assert s.get() == "sum 5"
    s.add(None)
    assert s.get() is None


@IN_MEMORY
def test_what_is_never_asked_for_again_goes_in_the_background(backend, clock):
    v = state(backend, ValueStateDescriptor("v", Types.LONG()), StateTtlConfig.new_builder(Duration.of_millis(TTL)))
    for key in range(100):
        backend.key = key
        v.update(key)
    clock.after(TTL)
    backend.key = "new"
    for _ in range(60):
        v.update(1)
    assert list(backend.keys_of(ValueStateDescriptor("v", None))) == ["new"]


def test_without_clean_up_expired_values_stay_until_they_are_met(backend, clock):
    v = value(backend)
    for key in range(10):
        backend.key = key
        v.update(key)
    clock.after(TTL)
    backend.key = "new"
    for _ in range(60):
        v.update(1)
    assert len(list(backend.keys_of(ValueStateDescriptor("v", None)))) == 11


@IN_MEMORY
def test_incremental_clean_up_takes_parts_of_lists_and_maps(backend, clock):
    config = builder().cleanup_incrementally(10, False)
    s, m = elements(backend, config), entries(backend, config)
    s.add(1)
    m.put("a", 1)
    clock.after(600)
    s.add(2)
    m.put("b", 2)
    clock.after(600)
    backend.key = "other"
    for _ in range(3):
        s.add(0)
        m.put("z", 0)
    assert [v for v, _ in backend.table("l", kind="ListState with time to live").data["k"]] == [2]
    assert [k for k, _ in backend.table("m", kind="MapState with time to live").entries("k")] == ["b"]


def test_ages_survive_in_deltas(backend, clock, new_backend):
    v = value(backend)
    v.update(1)
    clock.after(600)
    restored = new_backend()
    restored.now, restored.key = clock, "k"
    restored.apply(backend.collect_delta(), backend.state_kinds())
    w = value(restored)
    assert w.value() == 1
    clock.after(400)
    assert w.value() is None


def test_removal_by_age_is_part_of_the_delta(backend, clock, new_backend):
    v = value(backend)
    v.update(1)
    first = backend.collect_delta()
    clock.after(TTL)
    assert v.value() is None
    restored = new_backend()
    for delta in (first, backend.collect_delta()):
        restored.apply(delta)
    assert not restored.table("v", kind="ValueState with time to live").data


def test_a_state_cannot_get_or_lose_its_time_to_live(backend):
    value(backend)
    with pytest.raises(StateError, match="time to live"):
        backend.get_state(ValueStateDescriptor("v", Types.LONG()))


def test_a_disabled_time_to_live_is_none(backend, clock):
    v = value(backend, builder().set_update_type(StateTtlConfig.UpdateType.Disabled))
    v.update(1)
    clock.after(10 * TTL)
    assert v.value() == 1
    assert type(v).__name__ == "KeyedValueState"


@ON_DISK
def test_on_disk_what_is_expired_goes_little_by_little_as_epochs_touch_other_keys(clock, new_backend):
    backend = new_backend()
    backend.now = clock
    config = builder().cleanup_in_rocksdb_compact_filter(1000)
    v, s, m = value(backend, config), elements(backend, config), entries(backend, config)
    for key in range(50):
        backend.key = key
        v.update(key)
        s.add(key)
        m.put("x", key)
    backend.collect_delta()
    for table in backend._tables.values():  # whatever the budget is
        table.retire()
        table.retire()
    clock.after(600)
    backend.key = 3
    s.add("young")
    m.put("young", 1)
    clock.after(600)
    gone = set()
    for epoch in range(60):
        backend.key = f"new {epoch % 2}"
        v.update(epoch)
        s.update([epoch])
        m.put("e", epoch)
        gone |= {key for g in backend.collect_delta()["v"].values() for key, kept in g if kept is TOMBSTONE}
        clock.after(1)
    assert gone == set(range(50))
    assert sorted(map(str, backend.keys_of(ValueStateDescriptor("v", None)))) == ["new 0", "new 1"]
    assert sorted(map(str, backend.keys_of(ListStateDescriptor("l", None)))) == ["3", "new 0", "new 1"]
    assert sorted(map(str, backend.keys_of(MapStateDescriptor("m", None, None)))) == ["3", "new 0", "new 1"]
    backend.key = 3
    assert (s.get(), dict(m.items())) == (["young"], {"young": 1})


def test_full_snapshots_leave_expired_entries_out_if_told_so(backend, clock):
    told, untold = builder().cleanup_full_snapshot(), builder()
    s, m, v = elements(backend, told), entries(backend, told), value(backend, untold)
    s.add(1)
    m.put("a", 1)
    v.update(1)
    clock.after(600)
    s.add(2)
    m.put("b", 2)
    clock.after(600)
    snapshot = plain(backend.snapshot_full())
    (kept,), (entry,), (value_entry,) = (next(iter(snapshot[name].values())) for name in "lmv")
    assert kept == ("k", [(2, 50_600)]) and entry == (("k", "b"), (2, 50_600)) and value_entry == ("k", (1, 50_000))
    assert backend.table("l", kind="ListState with time to live").data["k"] == [
        (1, 50_000),
        (2, 50_600),
    ]  # only the file is clean


@IN_MEMORY
def test_clean_up_for_every_record_runs_without_any_use_of_the_state(backend, clock):
    v = value(backend, builder().cleanup_incrementally(2, True))
    m = entries(backend, builder().cleanup_incrementally(2, True))
    for key in range(20):
        backend.key = key
        v.update(key)
        m.put("x", key)
    clock.after(TTL)
    records = backend.in_turn(f"record {number}" for number in range(30))
    for backend.key in records:
        pass
    assert list(backend.keys_of(ValueStateDescriptor("v", None))) == []
    assert list(backend.keys_of(MapStateDescriptor("m", None, None))) == []
    backend.key = "k"
    v.update(1)
    assert v.value() == 1 and backend.current_key() == "k"


def test_ages_and_kinds_survive_from_one_backend_to_the_other(backend, clock):
    v, s, m = value(backend), elements(backend), entries(backend)
    v.update(1)
    s.add(1)
    m.put("a", 1)
    clock.after(600)
    s.add(2)
    m.put("b", 2)
    for kind in KINDS:
        restored = make_backend(kind)
        restored.now, restored.key = clock, "k"
        restored.apply(plain(backend.snapshot_full()), backend.state_kinds())
        clock.after(400)
        assert (value(restored).value(), elements(restored).get(), dict(entries(restored).items())) == (
            None,
            [2],
            {"b": 2},
        )
        with pytest.raises(StateError, match="a time to live cannot be added to saved state, nor taken from it"):
            restored.get_state(ValueStateDescriptor("v", None))
        restored.close()
        clock.after(-400)
