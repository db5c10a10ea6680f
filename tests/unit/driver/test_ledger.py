"""The driver's book: orders, complete acknowledgements, what is kept between epochs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headrace.checkpoint.model import FileEntry, Manifest, Origin
from headrace.common import Duration, WatermarkStrategy
from headrace.common.watermark_strategy import MAX_WATERMARK, MIN_TIMESTAMP
from headrace.connectors.base.source import Source
from headrace.connectors.base.split_enumerator import Split
from headrace.datastream import StreamExecutionEnvironment
from headrace.driver.ledger import Ledger
from headrace.graph.epoch_plan import build_epoch_plan
from headrace.graph.specs import SourceSpec
from headrace.operators.source import SplitPosition
from headrace.state.files import StateFile
from headrace.testing import Record, event_source
from headrace.testing.events import EventListSource
from headrace.worker.messages import Inheritance, OldSubtask, TaskAck, VertexReport


class Growing(Source):
    """An unbounded source; tests tell the ledger which splits it has."""

    bounded = False

    def open_reader(self, split, position, context):
        raise NotImplementedError


@pytest.fixture
def env():
    return StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)


def source(env, definition=None, strategy=None, parallelism=1, name="events"):
    definition = definition or event_source([Record(1)])
    stream = env.from_source(definition, strategy or WatermarkStrategy.no_watermarks(), name)
    return stream.set_parallelism(parallelism)


class Book:
    """A ledger and made-up acknowledgements for it."""

    def __init__(self, env):
        self.graph = env.get_job_graph("job")
        self.plan = build_epoch_plan(self.graph)
        self.ledger = Ledger("job-id", self.graph, self.plan, "/state")
        for vertex in self.graph.vertices.values():
            if isinstance(vertex.head.spec, SourceSpec) and isinstance(vertex.head.spec.source, EventListSource):
                self.ledger.add_splits(vertex.id, vertex.head.spec.source.splits(vertex.parallelism), more=False)

    def found(self, *splits, more=True):
        """The enumerator of the only source has found splits."""
        (vertex,) = {v.id for v in self.graph.vertices.values() if isinstance(v.head.spec, SourceSpec)}
        self.ledger.add_splits(vertex, [Split(split) for split in splits], more)
        return vertex

    def order(self, epoch=1, limit=10):
        return self.ledger.order(epoch, limit, 2.5)

    def acks(self, first_attempt=100, **fields):
        """One acknowledgement for each task, all consistent; `fields` go to all reports."""
        attempts = {}
        for level in self.plan.levels:
            for partition in range(level.partitions):
                attempts[level.index, partition] = first_attempt + len(attempts)
        result = []
        for (level, partition), attempt in attempts.items():
            group, subtask = self.plan.levels[level].locate(partition)
            seen = {
                (e.index, up): attempts[self.plan.address(e.source, up)]
                for vertex in group.vertices
                for e in self.graph.in_edges(vertex)
                for up in range(self.graph.vertices[e.source].parallelism)
            }
            reports = tuple(self.report(v, subtask, **fields) for v in group.vertices)
            result.append(TaskAck((level, partition), 1, attempt, seen, None, False, reports))
        return result

    @staticmethod
    def report(vertex, subtask, **fields):
        defaults = dict(
            records_in=0,
            records_out=0,
            watermark=MIN_TIMESTAMP,
            idle=False,
            next_timer=None,
            ended=False,
            busy_seconds=0.0,
        )
        return VertexReport(vertex=vertex, subtask=subtask, **{**defaults, **fields})


@pytest.fixture
def book(env):
    source(env, event_source([Record(1)], [Record(2)]), parallelism=2).rebalance().map(str).print()
    return Book(env)


# -- check --------------------------------------------------------------------------------------------------------


def test_complete_acknowledgements_are_fine(book):
    assert book.ledger.check(book.order(), book.acks()) is None


def test_a_missing_acknowledgement_is_found(book):
    acks = [a for a in book.acks() if a.task != (1, 1)]
    assert book.ledger.check(book.order(), acks) == "no acknowledgement from tasks [(1, 1)]"


def test_no_acknowledgement_at_all_is_found(book):
    assert "[(0, 0), (0, 1), (1, 0), (1, 1)]" in book.ledger.check(book.order(), [])


def test_two_attempts_of_one_task_are_found(book):
    acks = book.acks()
    assert book.ledger.check(book.order(), [*acks, replace(acks[0], attempt=999)]) == (
        "several attempts of tasks [(0, 0)] left traces"
    )


def test_frames_of_another_attempt_are_found(book):
    acks = book.acks()
    mixed = replace(acks[2], seen={**acks[2].seen, (0, 1): 999})
    why = book.ledger.check(book.order(), [*acks[:2], mixed, acks[3]])
    assert why == "task (1, 0) used another attempt of channel (0, 1) than the one that counts"


def test_an_acknowledgement_that_was_not_asked_for_is_found(book):
    order = book.order()
    acks = book.acks()
    order.tasks.pop((0, 0))
    assert "(0, 0)" in book.ledger.check(order, acks)


def test_a_task_that_saw_nothing_of_a_channel_is_fine(book):
    acks = [replace(a, seen={}) for a in book.acks()]
    assert book.ledger.check(book.order(), acks) is None


# -- orders -------------------------------------------------------------------------------------------------------


def test_the_first_order_starts_from_nothing(book):
    order = book.order(epoch=1)
    assert (order.job_id, order.epoch, order.restarts, order.state_directory) == ("job-id", 1, 0, "/state")
    assert {t.version for t in order.tasks.values()} == {None}
    assert all(t.files == () for t in order.tasks.values())
    assert sorted(order.tasks) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_sources_are_told_what_to_read(book):
    order = book.order(limit=42)
    (vertex,) = order.tasks[0, 1].sources
    told = order.tasks[0, 1].sources[vertex]
    assert [p.split.id for p in told.positions] == ["1"]
    assert (told.budget.records, told.budget.seconds, told.budget.watermark_limit) == (42, 2.5, None)
    assert order.tasks[1, 0].sources == {}


def test_the_next_order_asks_for_the_versions_that_count(book):
    book.ledger.apply(book.acks(first_attempt=7))
    assert {task: t.version for task, t in book.order(2).tasks.items()} == {
        (0, 0): 7, (0, 1): 8, (1, 0): 9, (1, 1): 10,
    }  # fmt: skip


def test_positions_go_on_where_the_source_said(book):
    acks = book.acks()
    split = book.order().tasks[0, 0].sources[acks[0].vertices[0].vertex].positions[0].split
    moved = SplitPosition(split, position=17)
    acks[0] = replace(acks[0], vertices=(replace(acks[0].vertices[0], positions=(moved,)),))
    book.ledger.apply(acks)
    (told,) = book.order(2).tasks[0, 0].sources.values()
    assert told.positions == (moved,)


def test_deltas_add_up_and_a_base_replaces_them(book):
    files = [StateFile(f"{n}.{'base' if n == 3 else 'delta'}", 10, n) for n in range(5)]
    for number, file in enumerate(files):
        acks = book.acks()
        acks[0] = replace(acks[0], state_file=file, state_is_base=number == 3)
        book.ledger.apply(acks)
    assert book.order(6).tasks[0, 0].files == (files[3], files[4])
    assert book.ledger.obsolete == files[:3]
    assert book.order(6).tasks[0, 1].files == ()


def test_a_task_that_has_ended_gets_no_orders(book):
    acks = book.acks()
    acks[0] = replace(acks[0], vertices=tuple(replace(v, ended=True) for v in acks[0].vertices))
    book.ledger.apply(acks)
    assert sorted(book.order(2).tasks) == [(0, 1), (1, 0), (1, 1)]
    assert not book.ledger.ended
    book.ledger.apply(book.acks(ended=True))
    assert book.ledger.ended


def test_the_part_of_a_level(book):
    part = book.order().of_level(1)
    assert sorted(part.tasks) == [(1, 0), (1, 1)]
    assert (part.epoch, part.state_directory) == (1, "/state")


def splits_by_subtask(order):
    return [[p.split.id for s in t.sources.values() for p in s.positions] for t in order.tasks.values()]


def more_splits(order):
    return {s.budget.more_splits for t in order.tasks.values() for s in t.sources.values()}


def test_a_split_that_appears_goes_to_the_subtask_with_the_fewest(env):
    source(env, Growing(), parallelism=2).print()
    book = Book(env)
    assert not book.ledger.bounded
    book.found("s0")
    assert splits_by_subtask(book.order()) == [["s0"], []]
    book.found("s1", "s2")
    assert splits_by_subtask(book.order()) == [["s0", "s2"], ["s1"]]
    book.found("s1", "s2")
    assert splits_by_subtask(book.order(2)) == [["s0", "s2"], ["s1"]]


class Owned(Growing):
    def owner(self, split, parallelism):
        return int(split.id) % parallelism


def test_a_split_goes_to_its_owner(env):
    source(env, Owned(), parallelism=2).print()
    book = Book(env)
    book.found("1", "3", "4")
    assert splits_by_subtask(book.order()) == [["4"], ["1", "3"]]


def test_more_splits_follow_until_the_enumerator_says_otherwise(env):
    source(env, Growing(), parallelism=2).print()
    book = Book(env)
    assert more_splits(book.order()) == {True}, "nobody has enumerated the source yet"
    book.found("s0", more=True)
    assert more_splits(book.order()) == {True}
    book.found(more=False)
    assert more_splits(book.order()) == {False}


def test_a_new_split_does_not_go_to_a_subtask_that_has_ended(env):
    source(env, Growing(), parallelism=2).print()
    book = Book(env)
    vertex = book.found("s0", "s1")
    book.order()
    acks = book.acks()
    acks[0] = replace(acks[0], vertices=tuple(replace(v, ended=True) for v in acks[0].vertices))
    book.ledger.apply(acks)
    book.found("s2", "s3")
    assert splits_by_subtask(book.order(2)) == [["s1", "s2", "s3"]]
    assert not book.ledger.has_ended(vertex)
    book.ledger.apply(book.acks(ended=True))
    assert book.ledger.has_ended(vertex)


# -- splits after a restore ---------------------------------------------------------------------------------------


def restored(env, held, parallelism=2, with_files=True):
    """A ledger that continues with the splits of another one."""
    book = Book(env)
    vertex = book.found()
    book = Book(env)
    files = {(vertex, i): (StateFile(f"f{i}", 1, 0),) for i in range(parallelism)} if with_files else {}
    book.ledger.start_from(None, files, {}, {vertex: held})
    return book, vertex


@pytest.mark.parametrize("with_files", [True, False])
def test_a_restored_ledger_learns_who_has_ended_before_it_assigns_new_splits(env, with_files):
    """A subtask that was restored may have ended: it would never read the split."""
    source(env, Growing(), parallelism=2).print()
    held = [SplitPosition(Split("s0"), 5, True, 0), SplitPosition(Split("s1"), 7, False, 1)]
    book, vertex = restored(env, held, with_files=with_files)
    book.found("s2", more=False)
    assert splits_by_subtask(book.order()) == ([["s0"], ["s1"]] if with_files else [["s0", "s1"], []])
    assert more_splits(book.order()) == {True}, "s2 is still to be assigned"
    assert book.ledger.split_progress(vertex).known == {"s0", "s1", "s2"}
    assert SplitPosition(Split("s2")) in book.ledger.positions[vertex], "a checkpoint has it"
    acks = book.acks()
    ended = 0 if with_files else 1
    acks[ended] = replace(acks[ended], vertices=tuple(replace(v, ended=True) for v in acks[ended].vertices))
    book.ledger.apply(acks)
    assert splits_by_subtask(book.order(2)) == ([["s1", "s2"]] if with_files else [["s0", "s1", "s2"]])
    assert more_splits(book.order(2)) == {False}


def test_a_split_that_no_subtask_had_yet_is_restored_as_such(env):
    source(env, Growing(), parallelism=2).print()
    book, _ = restored(env, [SplitPosition(Split("s0"), 5, False, 0), SplitPosition(Split("s1"))])
    assert splits_by_subtask(book.order()) == [["s0"], []]
    book.ledger.apply(book.acks())
    assert splits_by_subtask(book.order(2)) == [["s0"], ["s1"]]


def test_with_another_parallelism_all_known_splits_are_assigned_at_once(env):
    source(env, Growing(), parallelism=2).print()
    held = [SplitPosition(Split(f"s{n}"), n, False, n) for n in range(3)]
    book, _ = restored(env, [*held, SplitPosition(Split("s3"))], with_files=False)
    assert splits_by_subtask(book.order()) == [["s0", "s2"], ["s1", "s3"]]


def test_a_ledger_without_enumerated_sources_hands_on_no_splits(env):
    """Its successor must find them, and not believe that there are none."""
    source(env, Growing(), parallelism=2).print()
    book = Book(env)
    assert book.ledger.positions == {} and book.ledger.enumerated == set()
    vertex = book.found()
    assert book.ledger.positions == {vertex: []} and book.ledger.enumerated == {vertex}


def test_splits_stay_with_the_subtask_that_had_them(env):
    source(env, Growing(), parallelism=2).map(str).print()
    before = Book(env)
    vertex = before.found("s0", "s1", "s2")
    before.order()
    held = before.ledger.positions[vertex]
    assert {p.split.id: p.subtask for p in held} == {"s0": 0, "s1": 1, "s2": 0}
    after, _ = restored(env, [replace(p, subtask=1 - p.subtask) for p in held])
    assert {p.split.id: p.subtask for p in after.ledger.positions[vertex]} == {"s0": 1, "s1": 0, "s2": 1}


# -- what the driver knows ----------------------------------------------------------------------------------------


def test_a_ledger_knows_what_it_stands_on_until_its_own_tasks_have_run(book):
    manifest = Manifest("job-id", 1, 4, "a", None, (FileEntry("v/0", "old", 1, 0),))
    origin = Origin(manifest, "/state")
    owners = [book.ledger.owner(task) for task in book.order().tasks]
    inherited = Inheritance((OldSubtask("job-id", "v", 0, "/state", (StateFile("old", 1, 0),)),))
    book.ledger.start_from(origin, {}, {owner: inherited for owner in owners}, {})
    assert (book.ledger.stands_on, book.ledger.settled) == (origin, True)
    with pytest.raises(AssertionError, match="stands_on"):
        _ = book.ledger.files
    acks = [replace(a, state_file=StateFile(f"{a.attempt}.base", 1, 0), state_is_base=True) for a in book.acks()]
    book.ledger.apply(acks)
    assert not book.ledger.settled
    assert sorted(book.ledger.files) == sorted(owners)
    assert all(task.inheritance is None for task in book.order(2).tasks.values())
    book.ledger.settle(replace(origin, directory="/other"))
    assert (book.ledger.stands_on.directory, book.ledger.settled) == ("/other", True)


def test_a_job_is_bounded_if_all_its_sources_are(env):
    source(env).print()
    assert Book(env).ledger.bounded
    source(env, Growing(), name="endless").print()
    assert not Book(env).ledger.bounded


def sink_reports(book, *changes):
    acks = book.acks(watermark=5)
    for index, change in changes:
        acks[index] = replace(acks[index], vertices=tuple(replace(v, **change) for v in acks[index].vertices))
    book.ledger.apply(acks)
    return book.ledger.watermark()


def test_the_watermark_of_a_job_is_the_lowest_of_its_ends(book):
    assert book.ledger.watermark() == MIN_TIMESTAMP
    assert sink_reports(book, (0, {"watermark": 1}), (2, {"watermark": 10}), (3, {"watermark": 8})) == 8


def test_idle_ends_do_not_count(book):
    assert sink_reports(book, (2, {"watermark": 10}), (3, {"watermark": 3, "idle": True})) == 10


def test_at_the_end_the_watermark_is_the_last(book):
    assert sink_reports(book, (2, {"watermark": MAX_WATERMARK}), (3, {"watermark": MAX_WATERMARK})) == MAX_WATERMARK


def test_the_next_timer_is_the_earliest(book):
    assert book.ledger.next_timer() is None
    acks = book.acks()
    for index, timer in ((0, None), (1, 70), (2, 50), (3, None)):
        acks[index] = replace(acks[index], vertices=tuple(replace(v, next_timer=timer) for v in acks[index].vertices))
    book.ledger.apply(acks)
    assert book.ledger.next_timer() == 50


# -- watermark alignment ------------------------------------------------------------------------------------------


@pytest.fixture
def aligned(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    together = strategy.with_watermark_alignment("group", Duration.of_millis(100), Duration.of_seconds(1))
    source(env, strategy=together, name="slow").print()
    source(env, strategy=together, name="fast").print()
    source(env, strategy=strategy, name="free").print()
    return Book(env)


def limits(book, *marks, **fields):
    """The watermark limits of the three sources after an epoch that ended with these watermarks."""
    acks = book.acks()
    if marks:
        acks = [
            replace(a, vertices=tuple(replace(v, watermark=mark, **fields.get(name, {})) for v in a.vertices))
            for a, mark, name in zip(acks, marks, ("slow", "fast", "free"))
        ]
        book.ledger.apply(acks)
    orders = book.order(2).tasks
    return [next(iter(orders[0, p].sources.values())).budget.watermark_limit for p in range(3) if (0, p) in orders]


def test_aligned_sources_wait_for_the_slowest(aligned):
    assert limits(aligned, 1000, 5000, 9000) == [1100, 1100, None]


def test_before_all_have_spoken_none_runs_ahead(aligned):
    assert limits(aligned) == [MIN_TIMESTAMP + 100, MIN_TIMESTAMP + 100, None]


def test_an_idle_source_does_not_hold_the_group_up(aligned):
    assert limits(aligned, 1000, 5000, 9000, slow={"idle": True}) == [5100, 5100, None]
