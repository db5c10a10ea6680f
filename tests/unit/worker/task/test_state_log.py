"""The state files of a task: deltas, bases, and that what is restored is what was."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headrace.common.errors import StateError
from headrace.common.typeinfo import Types
from headrace.state.descriptors import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from headrace.state.files import read_state_file
from headrace.worker.task import state_log
from headrace.worker.task.state_log import StateLog

COUNT = ValueStateDescriptor("count", Types.PICKLED_BYTE_ARRAY())
NAMES = ListStateDescriptor("names", Types.STRING())
RULES = MapStateDescriptor("rules", Types.STRING(), Types.STRING())


class Kept:
    """A class in a module of the job."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return type(other) is Kept and other.number == self.number

    __hash__ = None


class Logged:
    """A task's contexts with their log, and the files as the driver keeps them."""

    def __init__(self, directory, make_context, operators=("op",)):
        self.directory = directory
        self.contexts = {name: make_context(name) for name in operators}
        self.log = StateLog(str(directory), "job", "vertex", 0, self.contexts)
        self.files = ()
        self.epoch = 0

    def put(self, key, value, operator="op"):
        backend = self.contexts[operator].keyed_state
        backend.key = key
        backend.get_state(COUNT).update(value)

    def write(self):
        self.epoch += 1
        file, is_base = self.log.write(self.epoch, f"g0000000001-{100 + self.epoch}.1")
        if file is not None:
            self.files = (file,) if is_base else (*self.files, file)
        return file, is_base

    def state(self):
        """Everything that a successor must have. The kind of a state without entries does not matter."""
        found = {}
        for name, context in self.contexts.items():
            keyed = context.keyed_state.snapshot_full()
            entries = {n: {g: sorted(e, key=repr) for g, e in groups.items()} for n, groups in keyed.items()}
            kinds = {n: kind for n, kind in context.keyed_state.state_kinds().items() if n in keyed}
            found[name] = (entries, kinds, context.operator_state.snapshot(), context.facts)
        return found


@pytest.fixture
def logged(tmp_path, make_context):
    return Logged(tmp_path, make_context)


def successor(logged, make_context):
    fresh = Logged(logged.directory, make_context, tuple(logged.contexts))
    fresh.log.restore(logged.files)
    fresh.files, fresh.epoch = logged.files, logged.epoch
    return fresh


def read(logged, file):
    return read_state_file(logged.directory, file, {"job_id": "job"}, trust_job_code=True).operators["op"]


def entries(state, name="count"):
    return sorted(e for group in state.keyed.get(name, {}).values() for e in group)


def test_a_delta_holds_what_changed(logged):
    for key in "abc":
        logged.put(key, 1)
    logged.write()
    logged.put("b", 2)
    file, is_base = logged.write()
    assert not is_base
    assert entries(read(logged, file)) == [("b", 2)]


def test_nothing_is_written_when_nothing_has_changed(logged):
    logged.put("a", 1)
    assert logged.write()[0] is not None
    assert logged.write() == (None, False)


def test_a_fact_alone_is_a_change(logged):
    logged.write()
    logged.contexts["op"].facts["watermark"] = 5
    file, _ = logged.write()
    assert read(logged, file).plain["facts"] == {"watermark": 5}
    assert logged.write() == (None, False)


def test_a_timer_alone_is_a_change(logged):
    logged.write()
    logged.contexts["op"].event_timers.register(10, "a")
    assert logged.write()[0] is not None


def test_operator_state_alone_is_a_change(logged):
    logged.write()
    logged.contexts["op"].operator_state.get_broadcast_state(RULES).put("r", "x")
    file, _ = logged.write()
    assert read(logged, file).plain["operator_state"].broadcast == {"rules": {"r": "x"}}
    assert logged.write() == (None, False)


def test_files_are_named_by_epoch_and_attempt(logged):
    logged.put("a", 1)
    file, _ = logged.write()
    assert file.name == "vertex-0-e0000000001-g0000000001-101.1.delta"
    assert (logged.directory / file.name).stat().st_size == file.size


# -- bases --------------------------------------------------------------------------------------------------------


def test_a_base_replaces_deltas_that_have_become_many(logged, monkeypatch):
    monkeypatch.setattr(state_log, "_MANY_DELTAS", 3)
    kinds = []
    for number in range(9):
        logged.put(f"key-{number}", number)
        kinds.append(logged.write()[1])
    assert kinds == [False, False, False, True, False, False, False, True, False]
    assert len(logged.files) == 2


def test_a_base_holds_everything(logged, monkeypatch):
    monkeypatch.setattr(state_log, "_MANY_DELTAS", 1)
    logged.put("a", 1)
    logged.write()
    logged.put("b", 2)
    file, is_base = logged.write()
    assert is_base
    assert file.name.endswith(".base")
    assert entries(read(logged, file)) == [("a", 1), ("b", 2)]


def test_a_base_is_written_when_the_deltas_are_larger_than_the_last_one(logged, monkeypatch):
    monkeypatch.setattr(state_log, "_SMALL_BASE", 10_000)
    written_deltas, written_bases, last_base = 0, 0, 10_000
    for epoch in range(60):
        logged.put(f"key-{epoch}", "x" * 1000)
        file, is_base = logged.write()
        if is_base:
            assert written_deltas > last_base, "not before the deltas are as large as the last base"
            last_base, written_deltas = max(file.size, 10_000), 0
            written_bases += 1
        else:
            written_deltas += file.size
            assert written_deltas - file.size <= last_base, "and not after"
    assert written_bases >= 2


def test_after_a_base_only_changes_are_written_again(logged, monkeypatch):
    monkeypatch.setattr(state_log, "_MANY_DELTAS", 1)
    logged.put("a", 1)
    logged.write()
    logged.put("b", 2)
    logged.contexts["op"].operator_state.get_broadcast_state(RULES).put("r", "x")
    assert logged.write()[1]
    monkeypatch.undo()
    assert logged.write() == (None, False), "what is in the base is not changed any more"
    logged.put("c", 3)
    assert entries(read(logged, logged.write()[0])) == [("c", 3)]


def test_a_successor_goes_on_counting(logged, make_context, monkeypatch):
    monkeypatch.setattr(state_log, "_MANY_DELTAS", 3)
    for number in range(3):
        logged.put("a", number)
        logged.write()
    assert successor(logged, make_context).write()[1], "the fourth file is a base, no matter which task writes it"


# -- restore ------------------------------------------------------------------------------------------------------


def test_without_files_there_is_nothing_to_restore(logged):
    before = logged.state()
    logged.log.restore(())
    assert logged.state() == before


def test_deleted_entries_stay_deleted(logged, make_context):
    logged.put("a", 1)
    logged.put("b", 1)
    logged.write()
    backend = logged.contexts["op"].keyed_state
    backend.key = "a"
    backend.get_state(COUNT).clear()
    logged.write()
    restored = successor(logged, make_context).contexts["op"].keyed_state
    restored.key = "a"
    assert restored.get_state(COUNT).value() is None
    restored.key = "b"
    assert restored.get_state(COUNT).value() == 1


def test_timers_fire_in_the_same_order_after_a_restore(logged, make_context):
    timers = logged.contexts["op"].event_timers
    for key in ("late", "first", "second"):
        timers.register(20 if key == "late" else 10, key)
    logged.write()
    restored = successor(logged, make_context).contexts["op"].event_timers
    assert [restored.pop_due(99)[1] for _ in range(3)] == ["first", "second", "late"]


def test_every_operator_of_the_task_gets_its_own_state(tmp_path, make_context):
    logged = Logged(tmp_path, make_context, ("one", "two"))
    logged.put("a", 1, "one")
    logged.put("a", 2, "two")
    logged.write()
    logged.put("a", 3, "two")
    logged.write()
    assert successor(logged, make_context).state() == logged.state()


@pytest.mark.parametrize("value", [Kept(3), Fraction(1, 3), {"nested": [Kept(1)]}], ids=["own", "library", "nested"])
def test_values_of_the_jobs_own_classes_come_back(logged, make_context, value):
    logged.put("a", value)
    logged.write()
    restored = successor(logged, make_context).contexts["op"].keyed_state
    restored.key = "a"
    assert restored.get_state(COUNT).value() == value


def test_a_damaged_file_is_noticed(logged, make_context):
    logged.put("a", "x" * 100)
    file, _ = logged.write()
    path = logged.directory / file.name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(StateError, match=file.name):
        successor(logged, make_context)


def test_a_file_of_another_subtask_is_refused(logged, make_context):
    logged.put("a", 1)
    logged.write()
    other = StateLog(str(logged.directory), "job", "vertex", 1, {"op": make_context("op")})
    with pytest.raises(StateError):
        other.restore(logged.files)


KEYS = st.sampled_from(["a", "b", ("c", 1), 4])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), KEYS, st.integers(0, 3)),
        st.tuples(st.just("clear"), KEYS, st.none()),
        st.tuples(st.just("append"), KEYS, st.text(max_size=2)),
        st.tuples(st.just("timer"), KEYS, st.integers(0, 5)),
        st.tuples(st.just("fire"), st.none(), st.integers(0, 5)),
        st.tuples(st.just("rule"), st.sampled_from(["r", "s"]), st.sampled_from(["x", None])),
        st.tuples(st.just("fact"), st.none(), st.integers(0, 9)),
        st.tuples(st.just("write"), st.none(), st.none()),
        st.tuples(st.just("replace"), st.none(), st.none()),
    ),
    max_size=40,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(steps=STEPS, many=st.integers(1, 4))
def test_a_restored_task_has_what_the_live_one_had(tmp_path_factory, make_context, steps, many):
    logged = Logged(tmp_path_factory.mktemp("state"), make_context)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(state_log, "_MANY_DELTAS", many)
        for what, key, value in steps:
            context = logged.contexts["op"]
            backend = context.keyed_state
            if what in ("put", "clear", "append"):
                backend.key = key
            if what == "put":
                backend.get_state(COUNT).update(value)
            elif what == "clear":
                backend.get_state(COUNT).clear()
            elif what == "append":
                backend.get_state(NAMES).add(value)
            elif what == "timer":
                context.processing_timers.register(value, key)
            elif what == "fire":
                context.processing_timers.pop_due(value)
            elif what == "rule":
                rules = context.operator_state.get_broadcast_state(RULES)
                rules.remove(key) if value is None else rules.put(key, value)
            elif what == "fact":
                context.facts["n"] = value
            else:
                logged.write()
                live, logged_again = logged.state(), successor(logged, make_context)
                # States that nobody has asked for yet are there all the same.
                assert logged_again.state() == live
                if what == "replace":
                    logged = logged_again
