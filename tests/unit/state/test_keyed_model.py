"""All kinds of state against plain dicts, over epochs, restores and changes of parallelism."""

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.state.backends import KINDS, make_backend, plain
from tests.unit.state.folding import fold

from headrace.state.descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from headrace.state.file_format import OperatorState, SubtaskState
from headrace.state.key_groups import key_group, key_group_range, subtask_of
from headrace.state.opaque_key import OpaqueKey

GROUPS = 16


class Sum:
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value

    def get_result(self, accumulator):
        return -accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


class Job:
    """Subtasks with their files: deltas per epoch, folded on restore."""

    def __init__(self, parallelism, kind):
        self.kind = kind
        self.start(parallelism)
        self.files = [[] for _ in range(parallelism)]

    def start(self, parallelism):
        self.backends = [
            make_backend(self.kind, GROUPS, key_group_range(subtask, GROUPS, parallelism))
            for subtask in range(parallelism)
        ]
        self.states = [
            {
                "value": backend.get_state(ValueStateDescriptor("value", None)),
                "list": backend.get_state(ListStateDescriptor("list", None)),
                "map": backend.get_state(MapStateDescriptor("map", None, None)),
                "reducing": backend.get_state(ReducingStateDescriptor("reducing", lambda a, b: a + b, None)),
                "aggregating": backend.get_state(AggregatingStateDescriptor("aggregating", Sum(), None)),
            }
            for backend in self.backends
        ]

    def close(self):
        for backend in self.backends:
            backend.close()

    def state(self, name, key):
        subtask = subtask_of(key_group(key, GROUPS), GROUPS, len(self.backends))
        self.backends[subtask].key = key
        return self.states[subtask][name]

    def epoch(self):
        for backend, files in zip(self.backends, self.files, strict=True):
            files.append(pickle.dumps(SubtaskState({"uid": OperatorState(backend.collect_delta())})))

    def restore(self, parallelism):
        folded = [fold(map(pickle.loads, files)) for files in self.files]
        self.close()
        self.start(parallelism)
        for backend in self.backends:
            for state in folded:
                if "uid" in state.operators:
                    backend.apply(state.operators["uid"].keyed)
            assert backend.collect_delta() == {}
        self.files = [
            [pickle.dumps(SubtaskState({"uid": OperatorState(plain(backend.snapshot_full()))}))]
            for backend in self.backends
        ]


class Model:
    def __init__(self):
        self.data = {name: {} for name in ("value", "list", "map", "reducing", "aggregating")}

    def apply(self, name, key, op, a, b):
        data = self.data[name]
        if op == "clear" or (name in ("reducing", "aggregating", "value") and a is None):
            data.pop(key, None)
        elif name == "value":
            data[key] = a
        elif name in ("reducing", "aggregating"):
            data[key] = data.get(key, 0) + a
        elif name == "list":
            values = ([] if op == "update" else data.get(key, [])) + ([a] if op == "add" else [a, b][: (b or 0) % 3])
            data[key] = values
            if not values:
                del data[key]
        else:
            entries = data.setdefault(key, {})
            if op == "put":
                entries[a] = b
            elif op == "put_all":
                entries.update({a: b, b: a})
            else:
                entries.pop(a, None)
            if not entries:
                del data[key]


def run(state, name, op, a, b):
    if op == "clear":
        state.clear()
    elif name == "value":
        state.update(a)
    elif name in ("reducing", "aggregating"):
        state.add(a)
    elif name == "list":
        if op == "add":
            state.add(a)
        else:
            getattr(state, op)([a, b][: (b or 0) % 3])
    elif op == "put":
        state.put(a, b)
    elif op == "put_all":
        state.put_all({a: b, b: a})
    else:
        state.remove(a)


def read(state, name):
    if name == "value":
        return state.value()
    if name == "list":
        return list(state.get())
    if name == "map":
        assert dict(zip(state.keys(), state.values(), strict=True)) == dict(state.items())
        return dict(state.items())
    return state.get()


EMPTY = {"value": None, "list": [], "map": {}, "reducing": None, "aggregating": None}
KEYS = [0, 1, "a", "b", ("a", 1), None, 2.5, b"x", "longer key", OpaqueKey([1]), OpaqueKey({"k": [2]}), -7]

numbers = st.none() | st.integers(0, 5)
steps = st.one_of(
    st.tuples(st.just("value"), st.sampled_from(KEYS), st.sampled_from(["update", "clear"]), numbers, numbers),
    st.tuples(
        st.just("list"), st.sampled_from(KEYS), st.sampled_from(["add", "add_all", "update", "clear"]), numbers, numbers
    ),
    st.tuples(
        st.just("map"), st.sampled_from(KEYS), st.sampled_from(["put", "put_all", "remove", "clear"]), numbers, numbers
    ),
    st.tuples(st.sampled_from(["reducing", "aggregating"]), st.sampled_from(KEYS), st.just("add"), numbers, numbers),
    st.tuples(st.just("epoch")),
    st.tuples(st.just("restore"), st.integers(1, 5)),
)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=100, deadline=None)
@given(parallelism=st.integers(1, 4), plan=st.lists(steps, max_size=40))
def test_states_agree_with_dicts(kind, parallelism, plan):
    if kind != "heap" and sum(step[0] == "restore" for step in plan) > 2:
        plan = [step for step in plan if step[0] != "restore"]  # each makes databases
    job, model = Job(parallelism, kind), Model()
    for step in plan:
        if step[0] == "epoch":
            job.epoch()
        elif step[0] == "restore":
            job.epoch()
            job.restore(step[1])
        else:
            name, key, op, a, b = step
            run(job.state(name, key), name, op, a, b)
            model.apply(name, key, op, a, b)
    job.epoch()
    job.restore(3)
    for name, data in model.data.items():
        for key in KEYS:
            expected = data.get(key, EMPTY[name])
            if name == "aggregating" and expected is not None:
                expected = -expected
            assert read(job.state(name, key), name) == expected, (name, key)
    stored = sum(
        len(entries)
        for b in job.backends
        for by_group in plain(b.snapshot_full()).values()
        for entries in by_group.values()
    )
    job.close()
    maps = model.data["map"]
    assert stored == sum(map(len, model.data.values())) - len(maps) + sum(map(len, maps.values()))
