"""Raw state: what functions write themselves comes back, also when key groups and partitions have moved."""

from __future__ import annotations

import json
import pickle
import threading
import time
from collections import Counter

import pytest
from durability_kit import KEYS, FailsOnce, expected_remembered, numbers

from headrace.common import Types
from headrace.common.errors import UserCodeError
from headrace.datastream import KeyedProcessFunction, MapFunction
from headrace.datastream.functions import CheckpointedFunction
from headrace.state.key_groups import key_group


class RawRemembering(KeyedProcessFunction, CheckpointedFunction):
    """Emits (key, how many so far, sum of all so far); both are in attributes, and in raw keyed state with a checkpoint."""

    def initialize_state(self, context):
        self.seen = {}
        for group in context.get_raw_keyed_state_inputs():
            found = pickle.load(group.get_stream())
            assert {key_group(key, 128) for key in found} == {group.get_key_group_id()}
            assert not found.keys() & self.seen.keys(), "each key group comes once"
            self.seen |= found

    def snapshot_state(self, context):
        output = context.get_raw_keyed_operator_state_output()
        groups = {}
        for key, facts in self.seen.items():
            groups.setdefault(key_group(key, 128), {})[key] = facts
        assert set(groups) <= set(output.get_key_group_list())
        for group, facts in groups.items():
            output.start_new_key_group(group)
            pickle.dump(facts, output)

    def process_element(self, value, ctx):
        count, total = self.seen.get(ctx.get_current_key(), (0, 0))
        self.seen[ctx.get_current_key()] = count + 1, total + value
        yield ctx.get_current_key(), count + 1, total + value


def raw_remembered(env, last, through=lambda v: v):
    stream = numbers(env, last, parallelism=1).map(through, Types.LONG()).uid("slow").set_parallelism(1)
    return stream.key_by(lambda v: v % KEYS).process(RawRemembering()).uid("remembering")


def slow(value):
    time.sleep(0.001)
    return value


def run(stream):
    """Starts a job; its rows are filed as they come."""
    results, rows = stream.execute_and_collect(), []
    thread = threading.Thread(target=lambda: rows.extend(iter(results)), daemon=True)
    thread.start()
    return results._job, rows, thread


def wait_for(condition):
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.005)
    assert condition()


def test_raw_keyed_state_survives_a_failure(make_env, tmp_path):
    env = make_env(2)
    rows = raw_remembered(env, 600, FailsOnce(tmp_path / "mark", 350)).execute_and_collect()
    assert sorted(rows) == expected_remembered(600)


def test_raw_keyed_state_moves_with_its_key_groups(make_env):
    job, rows, thread = run(raw_remembered(make_env(1), 900, slow))
    for parallelism in (2, 5, 3):
        reached = len(rows) + 50
        wait_for(lambda reached=reached: len(rows) >= reached)
        job.rescale(parallelism)
    thread.join(30)
    assert sorted(rows) == expected_remembered(900)


def test_a_savepoint_holds_raw_keyed_state_for_the_other_backend_and_parallelism(make_env):
    job, rows, thread = run(raw_remembered(make_env(2), 600, slow))
    wait_for(lambda: len(rows) >= 100)
    path = job.stop_with_savepoint(False, None)
    thread.join(10)
    env = make_env(3, execution__state_recovery__path=path, state__backend__type="rocksdb")
    after = list(raw_remembered(env, 600).execute_and_collect())
    assert sorted(rows + after) == expected_remembered(600)
    assert rows and after


class Hoarding(MapFunction, CheckpointedFunction):
    """Keeps all values, each a partition of raw operator state; tells for each record what it began with."""

    def initialize_state(self, context):
        self.kept = [json.load(part.get_stream()) for part in context.get_raw_operator_state_inputs()]
        self.began = list(self.kept)
        assert context.is_restored() or not self.kept

    def open(self, runtime_context):
        self.subtask = runtime_context.get_index_of_this_subtask()

    def snapshot_state(self, context):
        output = context.get_raw_operator_state_output()
        for value in self.kept:
            output.start_new_partition()
            output.write(json.dumps(value).encode())
        assert output.get_number_of_partitions() == len(self.kept)

    def map(self, value):
        self.kept.append(value)
        return self.subtask, value, self.began


def hoarded(env, last, through):
    stream = numbers(env, last, parallelism=1).map(through, Types.LONG()).uid("slow").set_parallelism(1)
    return stream.rebalance().map(Hoarding()).uid("hoarding")


def test_partitions_of_raw_operator_state_are_split_evenly(make_env):
    job, rows, thread = run(hoarded(make_env(2), 600, slow))
    wait_for(lambda: len(rows) >= 100)
    path = job.stop_with_savepoint(False, None)
    thread.join(10)
    env = make_env(3, execution__state_recovery__path=path)
    after = list(hoarded(env, 600, lambda v: v).execute_and_collect())
    began = {subtask: held for subtask, _, held in after}
    assert sorted(began) == [0, 1, 2]
    assert Counter(v for held in began.values() for v in held) == Counter(v for _, v, _ in rows)
    assert max(map(len, began.values())) - min(map(len, began.values())) <= 1
    assert sorted(v for _, v, _ in rows + after) == list(range(1, 601))


class Forgetting(Hoarding):
    """Writes raw state up to some value, and nothing after it."""

    def snapshot_state(self, context):
        if len(self.kept) < 200:
            super().snapshot_state(context)


def test_what_is_not_written_again_is_gone(make_env, tmp_path):
    env = make_env(1)
    stream = numbers(env, 600).map(FailsOnce(tmp_path / "mark", 450), Types.LONG()).map(Forgetting())
    rows = list(stream.execute_and_collect())
    assert rows[-1] == (0, 600, [])


class Wrong(RawRemembering):
    def __init__(self, way):
        self.way = way

    def snapshot_state(self, context):
        output = context.get_raw_keyed_operator_state_output()
        if self.way == "unstarted":
            output.write(b"x")
        elif self.way == "foreign":
            output.start_new_key_group(128)
        else:
            output.start_new_key_group(0)
            output.start_new_key_group(0)


@pytest.mark.parametrize(
    ("way", "message"), [("unstarted", "No key group"), ("foreign", "does not belong"), ("twice", "already")]
)
def test_what_cannot_be_written_is_refused(make_env, way, message):
    env = make_env(1, restart_strategy__type="none")
    with pytest.raises(Exception, match=message) as failure:
        list(numbers(env, 1000).key_by(lambda v: v % KEYS).process(Wrong(way)).name("wrong").execute_and_collect())
    assert failure.value.operator_name == "wrong"


class Keyless(Hoarding):
    def snapshot_state(self, context):
        context.get_raw_keyed_operator_state_output()


def test_raw_keyed_state_needs_keys(make_env):
    env = make_env(1, restart_strategy__type="none")
    with pytest.raises(Exception, match="needs a keyed stream") as failure:
        list(numbers(env, 1000).map(Keyless()).execute_and_collect())
    assert not isinstance(failure.value, UserCodeError)
