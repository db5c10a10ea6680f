"""What the diff says of a savepoint and a changed program is what a restore then does."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from processor_kit import EveryKind, savepoint_of

from headrace.common import Types, WatermarkStrategy
from headrace.common.errors import HeadraceError, InvalidProgramError
from headrace.common.time import Time
from headrace.datastream import KeyedProcessFunction, MapFunction
from headrace.datastream.connectors.number_seq import NumberSequenceSource
from headrace.datastream.functions import CheckpointedFunction
from headrace.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from headrace.state_processor import SavepointReader, savepoint_diff


class Counts(KeyedProcessFunction):
    """Emits (key, count); the descriptor is the program's choice."""

    def __init__(self, descriptor):
        self.descriptor = descriptor

    def open(self, runtime_context):
        d = self.descriptor
        getter = {"ListState": runtime_context.get_list_state, "MapState": runtime_context.get_map_state}
        self.state = getter.get(d.kind, runtime_context.get_state)(d)

    def process_element(self, value, ctx):
        if self.descriptor.kind == "ValueState":
            self.state.update((self.state.value() or 0) + 1)
            yield ctx.get_current_key(), self.state.value()


class Passing(MapFunction, CheckpointedFunction):
    def __init__(self, union=False, type_info=None):
        self.union = union
        self.type_info = type_info or Types.LONG()

    def initialize_state(self, context):
        store, descriptor = context.get_operator_state_store(), ListStateDescriptor("passed", self.type_info)
        self.passed = store.get_union_list_state(descriptor) if self.union else store.get_list_state(descriptor)

    def snapshot_state(self, context):
        pass

    def map(self, value):
        self.passed.add(value)
        return value


def value_descriptor(name="count", ttl=False, type_info=None):
    descriptor = ValueStateDescriptor(name, type_info or Types.LONG())
    if ttl:
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
    return descriptor


@dataclass
class Program:
    """A program with knobs."""

    source: str = "numbers"
    passing: str | None = "passing"
    union: bool = False
    passed_type: object = None
    counts: str = "counts"
    descriptor: object = field(default_factory=value_descriptor)
    max_parallelism: int | None = None
    extra: bool = False
    unchained: bool = False
    function: object = None

    def build(self, env, last=300):
        if self.max_parallelism is not None:
            env.set_max_parallelism(self.max_parallelism)
        stream = env.from_source(NumberSequenceSource(1, last), WatermarkStrategy.no_watermarks(), "n").uid(self.source)
        if self.extra:
            stream = stream.filter(lambda v: True).uid("extra")
        if self.passing is not None:
            stream = stream.map(Passing(self.union, self.passed_type), Types.LONG()).uid(self.passing)
        if self.unchained:
            stream = stream.disable_chaining()
        function = self.function or Counts(self.descriptor)
        return stream.key_by(lambda v: v % 5, Types.LONG()).process(function).uid(self.counts)


class CannotOpen(Counts):
    def open(self, runtime_context):
        raise OSError("no such host")


@pytest.fixture
def savepoint(make_env):
    """Of the program as it was. The source reads for ever, so it is never at its end."""
    _, path = savepoint_of(Program().build(make_env(2), last=10**9), 100)
    return path


CHANGES = {
    "nothing": (Program(), {}),
    "operator added": (Program(extra=True), {"new": ["extra"]}),
    "rechained": (Program(unchained=True), {}),
    "operator removed": (Program(passing=None), {"dropped": ["passing"]}),
    "operator renamed": (Program(counts="other"), {"dropped": ["counts"], "new": ["other"]}),
    "value became list": (Program(descriptor=ListStateDescriptor("count", Types.LONG())), {"kinds": ["count"]}),
    "value became map": (
        Program(descriptor=MapStateDescriptor("count", Types.LONG(), Types.LONG())),
        {"kinds": ["count"]},
    ),
    "time to live added": (Program(descriptor=value_descriptor(ttl=True)), {"kinds": ["count"]}),
    "value became text": (Program(descriptor=value_descriptor(type_info=Types.STRING())), {"types": ["count"]}),
    "value became anything": (Program(descriptor=value_descriptor(type_info=Types.PICKLED_BYTE_ARRAY())), {}),
    "elements became text": (Program(passed_type=Types.STRING()), {"types": ["passed"]}),
    "another kind and type": (Program(descriptor=ListStateDescriptor("count", Types.STRING())), {"kinds": ["count"]}),
    "state renamed": (Program(descriptor=value_descriptor("number")), {}),
    "split became union": (Program(union=True), {"kinds": ["passed"]}),
    "key groups": (Program(max_parallelism=64), {"max": ["passing", "counts"]}),
    "the same key groups": (Program(max_parallelism=128), {}),
    "source renamed": (Program(source="integers"), {"new": ["integers"], "lost": ["numbers"]}),
    "all at once": (
        Program(passing=None, max_parallelism=64, descriptor=value_descriptor(ttl=True)),
        {"dropped": ["passing"], "kinds": ["count"], "max": ["counts"]},
    ),
}
WHY = {
    "dropped": "no operator for the state of",
    "max": "another number of key groups",
    "kinds": "cannot be used as a",
    "types": "was saved with another type",
}


def restore(make_env, path, program, parallelism, **settings):
    """Starts the program on the savepoint; None if it runs, else the error."""
    env = make_env(parallelism, path, **settings)
    try:
        results = program.build(env, last=10**9).execute_and_collect()
        for number, _ in enumerate(results):
            if number == 20:
                results._job.cancel()
                return None
    except HeadraceError as error:
        return str(error)
    raise AssertionError("the job ended by itself")


@pytest.mark.parametrize("name", CHANGES)
def test_the_forecast_is_what_happens(make_env, savepoint, name):
    program, expected = CHANGES[name]
    # Functions that keep no counts emit nothing; such programs do not get that far.
    env = make_env(3)
    program.build(env).print()
    diff = savepoint_diff(savepoint, env)
    assert [o.uid for o in diff.dropped] == expected.get("dropped", [])
    assert [uid for uid in diff.new if not uid.startswith("Print")] == [
        *expected.get("new", []),
        *(u for u in diff.new if "Sink" in u),
    ]
    assert [c.state for c in diff.changed_kinds] == expected.get("kinds", [])
    assert [c.state for c in diff.changed_types] == expected.get("types", [])
    assert sorted(c.operator.uid for c in diff.changed_max_parallelism) == sorted(expected.get("max", []))
    assert list(diff.lost_positions) == expected.get("lost", [])
    assert {o.uid for o in diff.kept} | {o.uid for o in diff.dropped} == {"passing", "counts"}
    assert not diff.unchecked
    reasons = [WHY[reason] for reason in ("dropped", "max", "kinds", "types") if reason in expected]
    error = restore(make_env, savepoint, program, 3)
    assert (error is None) is diff.is_restorable() is (not reasons)
    assert error is None or reasons[0] in error
    if "dropped" in expected:
        error = restore(make_env, savepoint, program, 3, execution__state_recovery__ignore_unclaimed_state="true")
        assert (error is None) is diff.is_restorable(allow_non_restored_state=True) is (len(reasons) == 1)
        assert error is None or reasons[1] in error


def test_it_can_be_read(make_env, savepoint):
    env = make_env(3)
    Program(counts="other", passing="passing", descriptor=value_descriptor(), union=True).build(env)
    lines = str(savepoint_diff(savepoint, env)).splitlines()
    assert lines == [
        "kept     passing: passed (operator ListState)",
        "dropped  counts: count (ValueState)",
        "new      other",
        "changed  passing: passed was saved as operator ListState, the program declares operator UnionListState",
        "A job of this program cannot start from the savepoint.",
    ]


def test_a_changed_type_can_be_read(make_env, savepoint):
    env = make_env(3)
    Program(descriptor=value_descriptor(type_info=Types.STRING())).build(env)
    lines = str(savepoint_diff(savepoint, env)).splitlines()
    assert lines[2:] == [
        "changed  counts: count was saved as Long, the program declares String",
        "A job of this program cannot start from the savepoint.",
    ]


def test_a_function_that_cannot_be_opened_here(make_env, savepoint):
    env = make_env(2)
    Program(function=CannotOpen(value_descriptor())).build(env)
    diff = savepoint_diff(SavepointReader.read(savepoint), env.get_stream_graph())
    ((operator, why),) = diff.unchecked
    assert operator.uid == "counts" and "no such host" in why
    assert diff.is_restorable() and "unknown  counts" in str(diff)


def test_only_programs_can_be_compared(make_env, savepoint):
    with pytest.raises(InvalidProgramError, match="not a program"):
        savepoint_diff(savepoint, EveryKind())
