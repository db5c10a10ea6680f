"""Enumerators: splits are found once, failures lose none, checkpoints and the end of a job reach them."""

from __future__ import annotations

import pytest

from headrace.common import WatermarkStrategy
from headrace.connectors.base.source import Source
from headrace.connectors.base.split_enumerator import Split, SplitEnumerator
from headrace.connectors.generated.number_sequence import NumberSequence
from headrace.connectors.hybrid import Hybrid
from headrace.datastream import StreamExecutionEnvironment
from headrace.driver.enumerators import Enumerators
from headrace.driver.ledger import Ledger
from headrace.graph.epoch_plan import build_epoch_plan


class Scripted(SplitEnumerator):
    """Each call takes the next answer: a list of splits, or an error."""

    def __init__(self, first, later):
        self.first, self.later = list(first), list(later)
        self.calls, self.published, self.closed = [], [], []
        self.more = False

    @property
    def more_splits(self):
        return self.more

    def start(self, parallelism):
        self.calls.append(("start", parallelism))
        return self.answer(self.first)

    def discover(self, progress):
        self.calls.append(("discover", sorted(progress.known)))
        return self.answer(self.later) if self.later else []

    @staticmethod
    def answer(answers):
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return [Split(split) for split in answer]

    def notify_checkpoint_complete(self, positions):
        self.published.append(positions)
        if positions.get("s0") == "bad":
            raise OSError("the server is away")

    def close(self, kept):
        self.closed.append(kept)
        raise OSError("it is gone")


class ScriptedSource(Source):
    bounded = False

    def __init__(self, enumerator):
        self.made = enumerator

    def enumerator(self):
        return self.made

    def open_reader(self, split, position, context):
        raise NotImplementedError


class Job:
    """Enumerators and the ledgers of one job."""

    def __init__(self, *sources, parallelism=2):
        self.env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(parallelism)
        for number, source in enumerate(sources):
            stream = self.env.from_source(source, WatermarkStrategy.no_watermarks(), f"source {number}")
            stream.uid(f"source {number}").print()
        self.graph = self.env.get_job_graph("job")
        self.enumerators = Enumerators(self.graph)
        self.vertices = list(self.graph.vertices)

    def ledger(self):
        return Ledger("job", self.graph, build_epoch_plan(self.graph), "/state")

    def known(self, ledger, number=0):
        (vertex,) = [v for v in ledger.enumerated if self.graph.vertices[v].head.name.endswith(str(number))] or [None]
        return set() if vertex is None else set(ledger.split_progress(vertex).known)


def test_a_restart_reads_the_splits_that_were_found_first():
    enumerator = Scripted([["s0", "s1"]], [])
    job = Job(ScriptedSource(enumerator))
    job.enumerators.start(job.graph)
    for _ in range(3):
        ledger = job.ledger()
        job.enumerators.discover(ledger)
        assert job.known(ledger) == {"s0", "s1"}
    assert [call for call in enumerator.calls if call[0] == "start"] == [("start", 2)]


def test_a_first_search_that_fails_is_repeated():
    enumerator = Scripted([OSError("away"), ["s0"]], [])
    job = Job(ScriptedSource(enumerator))
    ledger = job.ledger()
    with pytest.raises(OSError, match="away"):
        job.enumerators.discover(ledger)
    assert ledger.enumerated == set()
    job.enumerators.discover(ledger)
    assert job.known(ledger) == {"s0"}


def test_a_search_that_fails_loses_no_split():
    first, second = Scripted([["s0"]], [["s1"], []]), Scripted([["t0"]], [OSError("away"), ["t1"]])
    job = Job(ScriptedSource(first), ScriptedSource(second))
    ledger = job.ledger()
    with pytest.raises(OSError, match="away"):
        job.enumerators.discover(ledger)
    assert (job.known(ledger, 0), job.known(ledger, 1)) == ({"s0", "s1"}, {"t0"})
    job.enumerators.discover(ledger)
    assert (job.known(ledger, 0), job.known(ledger, 1)) == ({"s0", "s1"}, {"t0", "t1"})
    assert second.calls[-1] == ("discover", ["t0"])


def test_a_restored_job_keeps_its_splits_and_only_looks_for_new_ones():
    enumerator = Scripted([["never"]], [["s2"]])
    job = Job(ScriptedSource(enumerator))
    (vertex,) = [v.id for v in job.graph.vertices.values()]
    before = job.ledger()
    before.add_splits(vertex, [Split("s0"), Split("s1")], more=True)
    ledger = job.ledger()
    ledger.start_from(None, {}, {}, before.positions)
    job.enumerators.discover(ledger)
    assert enumerator.calls == [("discover", ["s0", "s1"])]
    assert job.known(ledger) == {"s0", "s1", "s2"}


def test_positions_of_checkpoints_reach_every_source_and_fail_no_job(caplog):
    first, second = Scripted([[]], []), Scripted([[]], [])
    job = Job(ScriptedSource(first), ScriptedSource(second))
    one, two = job.vertices
    job.enumerators.notify_checkpoint_complete({one: {"s0": "bad"}, two: {"t0": 7}})
    assert {str(p) for p in (*first.published, *second.published)} == {"{'s0': 'bad'}", "{'t0': 7}"}
    assert "the server is away" in caplog.text


def test_all_enumerators_are_closed(caplog):
    enumerators = [Scripted([[]], []), Scripted([[]], [])]
    Job(*map(ScriptedSource, enumerators)).enumerators.close(kept=True)
    assert [e.closed for e in enumerators] == [[True], [True]]
    assert "it is gone" in caplog.text


# -- a hybrid source ----------------------------------------------------------------------------------------------


def ends(job, ledger, position=1):
    """All splits that the ledger has were read to their end."""
    from dataclasses import replace

    (vertex,) = ledger.enumerated
    done = [replace(p, finished=True, position=position) for p in ledger.positions[vertex]]
    after = job.ledger()
    after.start_from(None, {}, {}, {vertex: done})
    return after


def test_a_switch_that_fails_is_repeated_and_skips_nothing():
    second = Scripted([OSError("away"), ["s0"]], [])
    job = Job(Hybrid((NumberSequence(1, 2), ScriptedSource(second))))
    ledger = job.ledger()
    job.enumerators.discover(ledger)
    assert job.known(ledger) == {"0:0", "0:1"}
    ledger = ends(job, ledger)
    with pytest.raises(OSError, match="away"):
        job.enumerators.discover(ledger)
    job.enumerators.discover(ledger)
    assert job.known(ledger) == {"0:0", "0:1", "1:s0"}


def test_a_restart_before_the_switch_switches_to_the_same_splits():
    second = Scripted([["s0"], ["other"]], [])
    job = Job(Hybrid((NumberSequence(1, 2), ScriptedSource(second))))
    ledger = job.ledger()
    job.enumerators.discover(ledger)
    checkpoint = ends(job, ledger)
    for _ in range(2):
        ledger = job.ledger()
        ledger.start_from(None, {}, {}, checkpoint.positions)
        job.enumerators.discover(ledger)
        assert job.known(ledger) == {"0:0", "0:1", "1:s0"}
    assert [call for call in second.calls if call[0] == "start"] == [("start", 2)]


def test_a_source_that_finds_its_splits_late_is_not_skipped():
    """The first source of a hybrid may find its splits in `discover` only, as that of a DataFrame does."""
    first = Scripted([[]], [["s0"]])

    class Late(ScriptedSource):
        bounded = True

    job = Job(Hybrid((Late(first), NumberSequence(1, 2))))
    ledger = job.ledger()
    job.enumerators.discover(ledger)
    assert job.known(ledger) == {"0:s0"}
    ledger = ends(job, ledger)
    job.enumerators.discover(ledger)
    assert job.known(ledger) == {"0:s0", "1:0", "1:1"}
