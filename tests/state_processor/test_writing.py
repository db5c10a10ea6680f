"""Savepoints that a writer makes: jobs start on them with any parallelism and either backend."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from processor_kit import (
    KEYS,
    LAST,
    RULES,
    TIMER,
    EveryKind,
    Rules,
    descriptors,
    every_kind,
    numbers,
    savepoint_of,
    slow,
)

from headrace.common import Types
from headrace.common.errors import StateError, StateMigrationError, TypeMismatchError
from headrace.common.time import Time
from headrace.common.time_domain import TimeDomain
from headrace.datastream import KeyedProcessFunction
from headrace.datastream.state import ValueStateDescriptor
from headrace.datastream.window import TumblingEventTimeWindows
from headrace.state.job_folder import sweep_abandoned
from headrace.state_processor import SavepointReader, SavepointWriter, Timer, savepoint_diff
from headrace.state_processor import draft as draft_module
from headrace.state_processor.data_frames import _fetched_rows

PLACES = [(parallelism, backend) for parallelism in (1, 3) for backend in (None, "rocksdb")]


def bootstrapped(path):
    """A state of every kind for all keys, as if each had seen the number 1000 + key, and one timer that will tell."""
    d = descriptors()
    writer = SavepointWriter.new(max_parallelism=64)
    for name, value in {
        "count": lambda key: 1,
        "seen": lambda key: [1000 + key],
        "by_parity": lambda key: {"odd": 5},
        "largest": lambda key: 1000 + key,
        "mean": lambda key: (1, 1000 + key),
        "timed": lambda key: [1000 + key],
    }.items():
        writer.with_keyed_state("every-kind", name, d[name], ((key, value(key)) for key in range(KEYS)))
    writer.with_timers("every-kind", [Timer(TimeDomain.EVENT_TIME, TIMER + 10**10, 3)])
    writer.with_list_state("remembering", "passed", range(5)).with_union_list_state("remembering", "union", [-77])
    return writer.write(str(path))


@pytest.mark.parametrize(("parallelism", "backend"), PLACES)
def test_a_job_starts_on_a_savepoint_from_nothing(make_env, tmp_path, parallelism, backend):
    path = bootstrapped(tmp_path / "made")
    env = make_env(parallelism, path, backend)
    rows = list(
        numbers(env, KEYS)
        .key_by(lambda v: v % KEYS, Types.LONG())
        .process(EveryKind())
        .uid("every-kind")
        .map(lambda r: r)
        .uid("remembering")
        .execute_and_collect()
    )
    timers = [row for row in rows if row[0] == "timer"]
    assert timers == [("timer", 3, TIMER + 10**10)], "the watermark of the end fires it"
    found = sorted(row for row in rows if row[0] != "timer")
    expected = []
    for key in range(KEYS):
        number = key or KEYS
        parities = {"odd": 5}
        parity = "odd" if number % 2 else "even"
        parities[parity] = parities.get(parity, 0) + 1
        both = sorted([1000 + key, number])
        expected.append((key, 2, both, sorted(parities.items()), 1000 + key, sum(both) / 2, both))
    assert found == expected


@pytest.mark.parametrize("parallelism", [1, 3])
def test_operator_state_from_nothing(make_env, tmp_path, parallelism):
    path = bootstrapped(tmp_path / "made")
    env = make_env(parallelism, path)
    _, after = savepoint_of(every_kind(env), 20)
    reader = SavepointReader.read(after)
    passed = sorted(reader.list_state("remembering", "passed"))
    assert passed[:5] == [0, 1, 1, 2, 2], "0 to 4 were there, 1 and so on have passed"
    assert reader.union_list_state("remembering", "union").count(-77) == parallelism


def test_broadcast_state_from_nothing(make_env, tmp_path):
    path = SavepointWriter.new().with_broadcast_state("ruled", "rules", {7: 49}).write(str(tmp_path / "made"))
    env = make_env(3, path)
    rules = env.from_collection([], type_info=Types.LONG()).broadcast(RULES)
    rows = list(numbers(env, 10).rebalance().connect(rules).process(Rules()).uid("ruled").execute_and_collect())
    assert sorted(rows) == [(v, [(7, 49)]) for v in range(1, 11)]


@pytest.mark.parametrize(("parallelism", "backend"), PLACES)
def test_a_changed_savepoint_is_restored(make_env, tmp_path, parallelism, backend):
    before, path = savepoint_of(every_kind(make_env(2)), 100)
    reader = SavepointReader.read(path)
    changed = (
        SavepointWriter.from_existing(reader)
        .transform_keyed_state("every-kind", "count", lambda key, count: count + 1000)
        .transform_keyed_state("every-kind", "timed", lambda key, timed: [-1] if key == 3 else None)
        .transform_keyed_state("every-kind", "by_parity", lambda key, parities: {**parities, "none": 0})
        .with_keyed_state("every-kind", "largest", "ReducingState", [(key, 10**6) for key in range(KEYS)])
        .remove_state("every-kind", "mean")
        .with_list_state("remembering", "passed", [])
        .write(str(tmp_path / "changed"))
    )
    after = list(every_kind(make_env(parallelism, changed, backend)).execute_and_collect())
    seen = len(before)
    assert len(before) + len(after) == LAST, "the source goes on where it was"
    counts = {key: sum(v % KEYS == key for v in range(1, LAST + 1)) for key in range(KEYS)}
    last = {row[0]: row for row in after}
    for key, (_, count, _, parities, largest, mean, timed) in last.items():
        rest = [v for v in range(seen + 1, LAST + 1) if v % KEYS == key]
        assert count == counts[key] + 1000
        assert ("none", 0) in parities
        assert largest == 10**6
        assert mean == sum(rest) / len(rest), "it started without state"
        assert timed == ([-1, *rest] if key == 3 else rest)


class Text(KeyedProcessFunction):
    """Asks for the state `count` as a text."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(TEXT)

    def process_element(self, value, ctx):
        yield self.count.value()


TEXT = ValueStateDescriptor("count", Types.STRING())
RETYPED = {
    "copied": (lambda writer: writer, False),
    "renamed and back": (
        lambda writer: writer.rename_operator("every-kind", "x").rename_operator("x", "every-kind"),
        False,
    ),
    "changed": (lambda writer: writer.transform_keyed_state("every-kind", "count", lambda key, n: n + 1), False),
    "converted": (
        lambda writer: writer.transform_keyed_state("every-kind", "count", lambda key, n: str(n), TEXT),
        True,
    ),
    "replaced by its descriptor": (
        lambda writer: writer.with_keyed_state("every-kind", "count", descriptors()["count"], [(1, 3)]),
        False,
    ),
    "replaced by texts": (lambda writer: writer.with_keyed_state("every-kind", "count", TEXT, [(1, "3")]), True),
    "replaced by a kind": (lambda writer: writer.with_keyed_state("every-kind", "count", "ValueState", []), True),
    "removed": (lambda writer: writer.remove_state("every-kind", "count"), True),
}


@pytest.mark.parametrize("name", RETYPED)
def test_states_keep_their_types(make_env, tmp_path, name):
    """A job that declares another type than the written one is refused; the diff says so before."""
    change, taken = RETYPED[name]
    _, path = savepoint_of(every_kind(make_env(2)), 100)
    written = change(SavepointWriter.from_existing(SavepointReader.read(path))).write(str(tmp_path / "written"))
    ignored = {"execution__state_recovery__ignore_unclaimed_state": "true"}
    env = make_env(3, written, **ignored)
    texts = numbers(env, LAST).key_by(lambda v: v % KEYS, Types.LONG()).process(Text()).uid("every-kind")
    diff = savepoint_diff(written, env)
    assert [c.state for c in diff.changed_types] == ([] if taken else ["count"])
    if taken:
        assert {type(v) for v in texts.execute_and_collect()} <= {str, type(None)}
    else:
        with pytest.raises(StateMigrationError, match="seen: +String") as raised:
            list(texts.execute_and_collect())
        assert "Long" in str(raised.value.expected)


def test_a_conversion_to_another_kind_is_refused(tmp_path):
    writer = SavepointWriter.new().with_keyed_state("a", "count", "ListState", [(1, [3])])
    with pytest.raises(StateError, match="have different kinds"):
        writer.transform_keyed_state("a", "count", lambda key, value: value, TEXT)


def test_times_to_live_stay(make_env, tmp_path):
    """What is changed keeps its age; what is new is as old as the call."""
    _, path = savepoint_of(every_kind(make_env(1)), 20)
    reader = SavepointReader.read(path)

    def ages(reader):
        operator = reader.operator("every-kind").id
        groups = (entries for chain in reader.chains(operator) for _, entries in chain.groups(operator, "timed"))
        return {key: max(used for _, used in value) for entries in groups for key, value in entries}

    writer = SavepointWriter.from_existing(reader).transform_keyed_state("every-kind", "timed", lambda key, v: [*v, 0])
    changed = SavepointReader.read(writer.write(str(tmp_path / "changed")))
    assert ages(changed) == ages(reader)


def test_renamed_and_removed_operators(make_env, tmp_path):
    before, path = savepoint_of(every_kind(make_env(2)), 50)
    renamed = (
        SavepointWriter.from_existing(SavepointReader.read(path))
        .rename_operator("every-kind", "other")
        .rename_operator("numbers", "integers")
        .remove_operator("remembering")
        .write(str(tmp_path / "renamed"))
    )
    env = make_env(3, renamed)
    stream = numbers(env, LAST, "integers").map(lambda v: v, Types.LONG()).uid("slow")
    after = list(
        stream.key_by(lambda v: v % KEYS, Types.LONG()).process(EveryKind()).uid("other").execute_and_collect()
    )
    assert len(before) + len(after) == LAST
    assert max(row[1] for row in after) == max(sum(v % KEYS == k for v in range(1, LAST + 1)) for k in range(KEYS))
    assert "remembering" not in {o.uid for o in SavepointReader.read(renamed).operators()}


def test_a_copy_is_as_good_as_the_original(make_env, tmp_path):
    """Windows, their timers, watermarks and positions come along."""

    def windows(env):
        stream = numbers(env, LAST).map(slow, Types.LONG()).uid("slow").set_parallelism(1)
        window = stream.key_by(lambda v: v % KEYS, Types.LONG()).window(
            TumblingEventTimeWindows.of(Time.milliseconds(70))
        )
        sums = window.reduce(lambda a, b: a + b).uid("sums").map(lambda v: ("sum", v)).uid("tagged")
        return sums.union(stream.map(lambda v: ("number", v)).uid("numbers-tagged"))

    rows, path = savepoint_of(windows(make_env(2)), 100)
    copy = SavepointWriter.from_existing(SavepointReader.read(path)).write(str(tmp_path / "copy"))
    doubled = SavepointWriter.from_existing(SavepointReader.read(path))
    doubled.transform_keyed_state("sums", "_aligned_windows", lambda key, start, kept: (kept[0], kept[1] * 2))
    twice = doubled.write(str(tmp_path / "twice"))
    straight = sorted(windows(make_env(3, path)).execute_and_collect())
    for backend in (None, "rocksdb"):
        assert sorted(windows(make_env(3, copy, backend)).execute_and_collect()) == straight
    total = sum(v for tag, v in straight if tag == "sum")
    assert total == LAST * (LAST + 1) // 2
    inside = sum(v for tag, v in rows if tag == "number")
    assert sum(v for tag, v in windows(make_env(1, twice)).execute_and_collect() if tag == "sum") == total + inside


def test_more_state_than_is_held_at_once(make_env, tmp_path, monkeypatch):
    monkeypatch.setattr(draft_module, "_ENTRIES", 50)
    rows = [(n % 100, n) for n in range(1000)]
    writer = SavepointWriter.new().with_keyed_state("a", "x", "ValueState", iter(rows))
    reader = SavepointReader.read(writer.write(str(tmp_path / "made")))
    assert dict(reader.keyed_state("a", "x")) == {key: 900 + key for key in range(100)}, "the last row counts"
    again = SavepointWriter.from_existing(reader).with_keyed_state(
        "a", "x", "ValueState", ((f"key {key}", value) for key, value in reader.keyed_state("a", "x"))
    )
    changed = SavepointReader.read(again.write(str(tmp_path / "again")))
    assert dict(changed.keyed_state("a", "x")) == {f"key {key}": 900 + key for key in range(100)}


def test_a_job_that_starts_meanwhile_leaves_a_writer_alone(make_env, tmp_path):
    """Jobs remove what killed drivers have left in the same place."""
    writer = SavepointWriter.new()
    sweep_abandoned(None)
    path = writer.with_keyed_state("a", "x", "ValueState", [("k", 1)]).write(str(tmp_path / "made"))
    assert list(SavepointReader.read(path).keyed_state("a", "x")) == [("k", 1)]


class CountsLists(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(descriptors()["count"])

    def process_element(self, value, ctx):
        yield ctx.get_current_key(), self.count.value()


def test_unhashable_keys_from_nothing(make_env, tmp_path):
    rows = [([k], 10 * k) for k in range(1, 4)]
    path = SavepointWriter.new().with_keyed_state("lists", "count", "ValueState", rows).write(str(tmp_path / "made"))
    stream = numbers(make_env(3, path), 3).key_by(lambda v: [v]).process(CountsLists()).uid("lists")
    assert sorted(stream.execute_and_collect()) == rows


def test_what_cannot_be_written_is_refused(make_env, tmp_path):
    writer = SavepointWriter.new()
    with pytest.raises(TypeMismatchError, match="Unknown kind"):
        writer.with_keyed_state("a", "x", "Value", [])
    with pytest.raises(TypeMismatchError, match="descriptor belongs to another state"):
        writer.with_keyed_state("a", "x", descriptors()["count"], [])
    with pytest.raises(TypeMismatchError, match="must be a list of elements"):
        writer.with_keyed_state("a", "x", "ListState", [("k", "text")])
    with pytest.raises(TypeMismatchError, match="must be a mapping"):
        writer.with_keyed_state("a", "x", "MapState", [("k", [1])])
    with pytest.raises(StateError, match="no such operator"):
        writer.remove_operator("b")
    with pytest.raises(StateError, match="no such state"):
        writer.with_keyed_state("a", "x", "ValueState", []).transform_keyed_state("a", "y", max)
    with pytest.raises(StateError, match="max parallelism"):
        SavepointWriter.new(max_parallelism=0)
    with pytest.raises(StateError, match="already exists"):
        writer.write(str(tmp_path))
    with pytest.raises(ZeroDivisionError):
        writer.with_keyed_state("a", "x", "ValueState", [("k", 1)])
        writer.transform_keyed_state("a", "x", lambda key, value: 1 // 0).write(str(tmp_path / "failed"))
    assert not [p for p in Path(tmp_path).iterdir() if "failed" in p.name or p.name.startswith(".headrace")]


def test_remote_folders(make_env):
    url = "memory://savepoints/made"
    writer = SavepointWriter.new().with_keyed_state("a", "x", "ValueState", [("k", 1)])
    assert writer.write(url) == url
    reader = SavepointReader.read(url)
    assert list(reader.keyed_state("a", "x")) == [("k", 1)]
    operator, layout = reader.operator("a"), reader.keyed_layout("a", "x")
    elsewhere = replace(reader.chains(operator.id)[0], directory="/not/on/this/machine")
    assert list(_fetched_rows(url, elsewhere, operator, "x", layout)) == [("k", 1)], "as Spark's workers read it"
