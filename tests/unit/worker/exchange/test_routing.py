"""Writers: which target gets which record, what travels along, and where marks go."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.common.errors import InvalidProgramError, TypeMismatchError, UserCodeError
from headrace.common.typeinfo import Types
from headrace.graph import partitioners
from headrace.state.key_groups import key_group, subtask_of
from headrace.state.opaque_key import hashable_keys
from headrace.types.codecs import codec_for
from headrace.worker.exchange.buffers import TargetBuffer
from headrace.worker.exchange.frames import CLOCK, END, IDLE, RECORDS, WATERMARK, decode_timestamps, unpack
from headrace.worker.exchange.routing import create_writer
from headrace.worker.exchange.writers import LocalWriter


class Edge:
    """A writer with `targets` buffers; what they send is kept by partition."""

    def __init__(self, partitioner, owner, targets=3, *, edge=0, epoch=1, value_type=None):
        buffers = [TargetBuffer((1, i), edge, 0, codec_for(value_type), None) for i in range(targets)]
        self.writer = create_writer(partitioner, owner, buffers, edge, 128)
        self.targets = targets
        self.begin(epoch)

    def begin(self, epoch):
        self.frames = {i: [] for i in range(self.targets)}
        self.writer.begin_epoch(epoch, epoch, lambda level, partition, frame: self.frames[partition].append(frame))

    def send(self, values, timestamps=None):
        self.writer.process_batch(values, timestamps, None)
        return self

    def items(self):
        self.writer.flush()
        return {p: [item for frame in frames for item in unpack(frame)[1]] for p, frames in self.frames.items()}

    def received(self):
        """Records by target as (value, timestamp)."""
        result = {}
        for partition, items in self.items().items():
            result[partition] = []
            for _, values, timestamps, _ in (item for item in items if item[0] == RECORDS):
                stamps = decode_timestamps(timestamps) or [None] * len(values)
                result[partition] += list(zip(values, stamps))
        return result

    def values(self):
        return {p: [v for v, _ in records] for p, records in self.received().items()}


def remainder(key, n):
    return key % n


def identity(value):
    return value


ALL = [
    partitioners.Forward(),
    partitioners.Rebalance(),
    partitioners.Rescale(),
    partitioners.Shuffle(),
    partitioners.Broadcast(),
    partitioners.Global(),
    partitioners.Custom(remainder, identity),
    partitioners.KeyGroup(identity),
]


# -- where records go ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("partitioner", [partitioners.Forward(), partitioners.Global()], ids=lambda p: p.name)
def test_forward_and_global_use_the_first_target(make_operator, partitioner):
    assert Edge(partitioner, make_operator()).send([1, 2, 3]).values() == {0: [1, 2, 3], 1: [], 2: []}


def test_broadcast_gives_everything_to_everybody(make_operator):
    assert Edge(partitioners.Broadcast(), make_operator()).send([1, 2]).values() == {0: [1, 2], 1: [1, 2], 2: [1, 2]}


@pytest.mark.parametrize("partitioner", [partitioners.Rebalance(), partitioners.Rescale()], ids=lambda p: p.name)
@pytest.mark.parametrize("batches", [[9], [1] * 9, [2, 1, 5, 1], [4, 4, 1]], ids=str)
def test_round_robin_deals_in_turn_whatever_the_batches(make_operator, partitioner, batches):
    edge = Edge(partitioner, make_operator(), epoch=3)
    numbers = iter(range(9))
    for size in batches:
        edge.send([next(numbers) for _ in range(size)])
    assert edge.values() == {0: [0, 3, 6], 1: [1, 4, 7], 2: [2, 5, 8]}


def test_round_robin_goes_on_where_the_last_epoch_ended(make_operator):
    edge = Edge(partitioners.Rebalance(), make_operator(), epoch=3)
    edge.send([0, 1])
    edge.begin(4)
    assert edge.send([2, 3, 4]).values() == {2: [2], 0: [3], 1: [4]}


def test_round_robin_of_several_subtasks_starts_at_different_targets(make_operator):
    firsts = set()
    for subtask in range(3):
        edge = Edge(partitioners.Rebalance(), make_operator(subtask=subtask, parallelism=3)).send(["x"])
        firsts |= {target for target, values in edge.values().items() if values}
    assert firsts == {0, 1, 2}


def test_custom_asks_the_users_function(make_operator):
    partitioner = partitioners.Custom(lambda key, n: (key * 2) % n, lambda value: value["k"])
    values = [{"k": 0}, {"k": 1}, {"k": 2}]
    assert Edge(partitioner, make_operator()).send(values).values() == {0: [{"k": 0}], 2: [{"k": 1}], 1: [{"k": 2}]}


@pytest.mark.parametrize("wrong", [3, -1, 1.0, None, "0"])
def test_custom_refuses_a_target_that_does_not_exist(make_operator, wrong):
    edge = Edge(partitioners.Custom(lambda key, n: wrong, identity), make_operator())
    with pytest.raises(InvalidProgramError, match="subtask that does not exist") as caught:
        edge.send(["record"])
    assert caught.value.operator_name == "name of op"
    assert "'record'" in caught.value.seen
    assert caught.value.expected == "an int from 0 to 2"


def test_keys_go_to_the_owner_of_their_key_group(make_operator):
    words = [f"word-{i}" for i in range(200)]
    received = Edge(partitioners.KeyGroup(identity), make_operator()).send(words).values()
    expected = {0: [], 1: [], 2: []}
    for word in words:
        expected[subtask_of(key_group(word, 128), 128, 3)].append(word)
    assert received == expected
    assert all(received.values())


def test_keys_travel_with_their_records(make_operator):
    edge = Edge(partitioners.KeyGroup(len), make_operator())
    edge.send(["a", "bb", "cc"], [1, 2, 3])
    for items in edge.items().values():
        for _, values, _, keys in items:
            assert keys == [len(v) for v in values]


def test_keys_travel_also_to_a_single_target(make_operator):
    edge = Edge(partitioners.KeyGroup(len), make_operator(), targets=1)
    edge.send(["a", "bb"])
    assert edge.items()[0] == [(RECORDS, ["a", "bb"], None, [1, 2])]


@pytest.mark.parametrize("targets", [1, 3])
def test_keys_that_cannot_be_hashed_are_wrapped(make_operator, targets):
    values = [[1, 2], [3], [1, 2]]
    edge = Edge(partitioners.KeyGroup(identity), make_operator(), targets=targets).send(values)
    found = [(v, k) for items in edge.items().values() for _, vs, _, ks in items for v, k in zip(vs, ks)]
    wrapped = hashable_keys(values)
    assert Counter((str(v), k) for v, k in found) == Counter(zip(map(str, values), wrapped))


def test_shuffle_reaches_all_targets_and_agrees_on_a_replay(make_operator):
    values = list(range(300))
    first = Edge(partitioners.Shuffle(), make_operator(), epoch=5).send(values).values()
    again = Edge(partitioners.Shuffle(), make_operator(), epoch=5).send(values).values()
    assert first == again
    assert sorted(v for run in first.values() for v in run) == values
    assert all(50 < len(run) < 150 for run in first.values())


def test_shuffle_chooses_anew_for_epoch_edge_and_subtask(make_operator):
    values = list(range(100))
    runs = [
        Edge(partitioners.Shuffle(), make_operator(), epoch=1).send(values).values(),
        Edge(partitioners.Shuffle(), make_operator(), epoch=2).send(values).values(),
        Edge(partitioners.Shuffle(), make_operator(), edge=1).send(values).values(),
        Edge(partitioners.Shuffle(), make_operator(subtask=1, parallelism=2)).send(values).values(),
    ]
    assert all(a != b for i, a in enumerate(runs) for b in runs[i + 1 :])


# -- for every writer ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("partitioner", ALL, ids=lambda p: p.name)
def test_timestamps_travel_with_their_records(make_operator, partitioner):
    values = list(range(20))
    timestamps = [None if v == 3 else v * 10 for v in values]
    received = Edge(partitioner, make_operator()).send(values, timestamps).received()
    assert all(t == timestamps[v] for records in received.values() for v, t in records)
    copies = 3 if isinstance(partitioner, partitioners.Broadcast) else 1
    assert Counter(v for records in received.values() for v, _ in records) == dict.fromkeys(values, copies)


@pytest.mark.parametrize("partitioner", ALL, ids=lambda p: p.name)
def test_records_of_one_target_keep_their_order(make_operator, partitioner):
    edge = Edge(partitioner, make_operator())
    for start in range(0, 60, 7):
        edge.send(list(range(start, start + 7)))
    assert all(values == sorted(values) for values in edge.values().values())


@pytest.mark.parametrize("partitioner", ALL, ids=lambda p: p.name)
def test_marks_go_to_all_targets_after_what_was_sent_before_them(make_operator, partitioner):
    edge = Edge(partitioner, make_operator())
    edge.send(list(range(30)))
    edge.writer.process_watermark(5)
    edge.writer.process_clock(77)
    edge.writer.process_idle(True)
    edge.writer.end()
    for items in edge.items().values():
        assert items[-4:] == [(WATERMARK, 5), (CLOCK, 77), (IDLE, True), (END,)]
        assert all(item[0] == RECORDS for item in items[:-4])


@pytest.mark.parametrize("partitioner", ALL, ids=lambda p: p.name)
def test_what_is_given_is_not_changed(make_operator, partitioner):
    values, timestamps = [3, 1, 2], [30, 10, 20]
    edge = Edge(partitioner, make_operator()).send(values, timestamps)
    edge.send([9], [90]).items()
    assert (values, timestamps) == ([3, 1, 2], [30, 10, 20])


@given(
    st.lists(st.lists(st.integers(0, 50), min_size=1, max_size=20), max_size=10),
    st.sampled_from(ALL),
    st.integers(1, 4),
)
def test_nothing_is_lost(make_operator, batches, partitioner, targets):
    edge = Edge(partitioner, make_operator(), targets)
    for batch in batches:
        edge.send(batch)
    copies = targets if isinstance(partitioner, partitioners.Broadcast) else 1
    sent_values = Counter(v for batch in batches for v in batch)
    assert Counter(v for values in edge.values().values() for v in values) == Counter(
        {v: n * copies for v, n in sent_values.items()}
    )


# -- failures -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "partitioner",
    [partitioners.KeyGroup(lambda v: 1 // v), partitioners.Custom(remainder, lambda v: 1 // v)],
    ids=lambda p: p.name,
)
def test_a_failing_selector_names_operator_and_record(make_operator, partitioner):
    edge = Edge(partitioner, make_operator(subtask=1, parallelism=2))
    with pytest.raises(UserCodeError) as caught:
        edge.send([1, 2, 0, 3])
    error = caught.value
    assert (error.operator_name, error.uid, error.subtask, error.record) == ("name of op", "uid of op", 1, "0")
    assert "ZeroDivisionError" in error.user_traceback


def by_flush(edge):
    edge.writer.flush()


def by_watermark(edge):
    edge.writer.process_watermark(1)


def by_end(edge):
    edge.writer.end()


def by_full_run(edge):
    edge.send([1] * 5000)


@pytest.mark.parametrize("found", [by_flush, by_watermark, by_end, by_full_run], ids=lambda f: f.__name__)
def test_a_value_of_the_wrong_type_names_the_operator_however_it_is_found(make_operator, found):
    edge = Edge(partitioners.Global(), make_operator(), value_type=Types.LONG())
    edge.send(["text"])
    with pytest.raises(TypeMismatchError) as caught:
        found(edge)
    assert caught.value.operator_name == "name of op"
    assert "'text'" in caught.value.seen


# -- inside a task ------------------------------------------------------------------------------------------------


def test_a_local_edge_keeps_items_as_objects(make_operator):
    writer = LocalWriter(make_operator(), codec_for(None))
    writer.begin_epoch(1, 1, None)
    shared = object()
    writer.process_batch([shared], [5], None)
    writer.process_watermark(3)
    writer.process_idle(True)
    writer.process_clock(9)
    writer.end()
    writer.flush()
    assert writer.items == [(RECORDS, [shared], [5], None), (WATERMARK, 3), (IDLE, True), (CLOCK, 9), (END,)]
    writer.begin_epoch(2, 2, None)
    assert writer.items == []


def test_a_local_edge_brings_values_to_their_type(make_operator):
    writer = LocalWriter(make_operator(), codec_for(Types.DOUBLE()))
    writer.begin_epoch(1, 1, None)
    writer.process_batch([1], None, None)
    assert type(writer.items[0][1][0]) is float
    with pytest.raises(TypeMismatchError) as caught:
        writer.process_batch(["one"], None, None)
    assert caught.value.operator_name == "name of op"
