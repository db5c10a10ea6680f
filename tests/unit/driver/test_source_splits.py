"""The splits of one source: who gets new ones, and when; what is handed on."""

from __future__ import annotations

from headrace.connectors.base.source import Source
from headrace.connectors.base.split_enumerator import Split
from headrace.driver.source_splits import SourceSplits
from headrace.operators.source import SplitPosition


class Numbers(Source):
    """A split that is a number belongs to a subtask."""

    def owner(self, split, parallelism):
        return int(split.id) % parallelism if split.id.isdecimal() else None

    def open_reader(self, split, position, context):
        raise NotImplementedError


def splits(*names, parallelism=2, more=True):
    made = SourceSplits(Numbers(), parallelism)
    made.add([Split(name) for name in names], more)
    return made


def by_subtask(made, parallelism=2):
    return [[p.split.id for p in made.of(i)] for i in range(parallelism)]


def test_splits_go_to_their_owner_or_where_the_fewest_are():
    made = splits("a", "1", "3", "b", "c")
    made.assign([None, None])
    assert by_subtask(made) == [["a", "b"], ["1", "3", "c"]] or by_subtask(made) == [["a", "b", "c"], ["1", "3"]]


def test_the_owner_of_a_split_may_have_ended():
    made = splits("1")
    made.assign([False, True])
    assert by_subtask(made) == [["1"], []]


def test_without_a_subtask_that_reads_splits_wait():
    made = splits("a", more=False)
    made.assign([True, True])
    assert by_subtask(made) == [[], []]
    assert made.more and [p.split.id for p in made.positions] == ["a"]


def test_splits_that_were_read_do_not_count_as_load():
    made = splits("a", "b")
    made.assign([None, None])
    made.update(1, [SplitPosition(Split("b"), 9, finished=True)])
    made.add([Split("c")], more=False)
    made.assign([False, False])
    assert by_subtask(made) == [["a"], ["b", "c"]]
    assert (made.progress.known, made.progress.finished, made.more) == ({"a", "b", "c"}, {"b"}, False)


def test_a_known_split_keeps_its_position():
    made = splits("a")
    made.assign([None, None])
    made.update(0, [SplitPosition(Split("a"), 7)])
    made.add([Split("a")], more=True)
    made.assign([False, False])
    assert made.positions == [SplitPosition(Split("a"), 7, subtask=0)]


def test_restored_splits_stay_where_they_were_and_new_ones_wait_for_all_reports():
    made = SourceSplits(Numbers(), 2)
    made.restore([SplitPosition(Split("a"), 5, subtask=1), SplitPosition(Split("b"))], as_they_were=True)
    made.add([Split("c")], more=False)
    made.assign([None, False])
    assert by_subtask(made) == [[], ["a"]] and made.more
    made.assign([True, False])
    assert by_subtask(made) == [[], ["a", "b", "c"]] and not made.more


def test_with_another_parallelism_all_splits_are_assigned_again():
    made = SourceSplits(Numbers(), 2)
    made.restore([SplitPosition(Split(name), 5, subtask=n) for n, name in enumerate("1ab")], as_they_were=False)
    assert by_subtask(made) == [["a"], ["1", "b"]] or by_subtask(made) == [["a", "b"], ["1"]]


def test_sources_begin_at_different_subtasks():
    made = SourceSplits(Numbers(), 2, first=3)
    made.add([Split("a"), Split("b"), Split("c")], more=False)
    made.assign([None, None])
    assert by_subtask(made) == [["b"], ["a", "c"]]
