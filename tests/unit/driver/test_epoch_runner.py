"""Running one epoch until it counts: lost processes, inconsistent acknowledgements, failures, cancelling."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from headrace.common.errors import JobExecutionError, UserCodeError
from headrace.driver.epochs import EpochRunner
from headrace.driver.executor import EpochLostError, EpochResult
from headrace.worker.messages import DriverOutput, EpochOrder, TaskAck, TaskFailure


def result(name, *failures):
    acks = [TaskAck((0, 0), 1, attempt, {}, None, False, (), host=name) for attempt in (1,)]
    said = DriverOutput(said=name.encode())
    return EpochResult(acks, [said], [TaskFailure((0, 0), failure) for failure in failures])


class Bench:
    """A runner with an executor that does as `steps` say, one for each attempt; notes what is done with the results."""

    def __init__(self, *steps, inconsistent=()):
        self.steps, self.inconsistent = list(steps), set(inconsistent)
        self.orders, self.aborted, self.said = [], [], []
        self.cancelled = threading.Event()
        results = SimpleNamespace(say=lambda outputs: self.said.extend(o.said.decode() for o in outputs))
        checkpoints = SimpleNamespace(abort=lambda acks: self.aborted.extend(ack.host for ack in acks))
        self.runner = EpochRunner(self, checkpoints, results, self.cancelled)

    def run_epoch(self, order):
        step = self.steps.pop(0)
        step = step() if callable(step) else step
        if isinstance(step, Exception):
            raise step
        return step

    def check(self, order, acks):
        assert order is self.orders[-1], "checked against the order of this attempt"
        return "no acknowledgement from tasks [(0, 1)]" if acks[0].host in self.inconsistent else None

    def order(self):
        self.orders.append(EpochOrder("job", 7, 0, "/state", {}))
        return self.orders[-1]

    def run(self):
        return self.runner.run(self, self.order, "job")


def test_an_epoch_that_counts_is_returned_once():
    bench = Bench(result("first"))
    assert [ack.host for ack in bench.run().acks] == ["first"]
    assert len(bench.orders) == 1 and not bench.aborted and not bench.said


def test_inconsistent_acknowledgements_are_aborted_and_the_epoch_is_retried_with_a_new_order():
    bench = Bench(result("torn"), result("whole"), inconsistent=["torn"])
    assert [ack.host for ack in bench.run().acks] == ["whole"]
    assert bench.aborted == ["torn"], "what its sinks have staged must never be committed"
    assert len(bench.orders) == 2


def test_an_epoch_is_not_retried_for_ever():
    bench = Bench(*(result("torn") for _ in range(9)), inconsistent=["torn"])
    with pytest.raises(
        JobExecutionError, match=r"Epoch 7 could not be completed in 4 attempts: no acknowledgement from"
    ):
        bench.run()
    assert bench.aborted == ["torn"] * 4


def test_a_lost_process_is_survived_once(caplog):
    bench = Bench(EpochLostError("lost", seen="a slot died"), result("again"))
    assert [ack.host for ack in bench.run().acks] == ["again"]
    assert "epoch 7 of 'job' is retried: a slot died" in caplog.text
    with pytest.raises(EpochLostError):
        Bench(EpochLostError("lost"), EpochLostError("lost"), result("never")).run()


def test_a_failure_of_user_code_is_raised_before_others_after_its_prints():
    error = UserCodeError.wrap(ValueError("bad"))
    bench = Bench(result("printed", JobExecutionError("another"), error))
    with pytest.raises(UserCodeError, match="bad"):
        bench.run()
    assert bench.said == ["printed"] and bench.aborted == ["printed"]


def test_any_other_exception_of_the_executor_is_a_failure():
    with pytest.raises(OSError, match="gone"):
        Bench(OSError("gone")).run()


def test_an_exception_while_cancelling_abandons_the_epoch(caplog):
    def torn():
        bench.cancelled.set()
        return OSError("interrupted")

    bench = Bench(torn)
    with caplog.at_level("DEBUG", "headrace"):
        assert bench.run() is None
    assert "failed while the job was being cancelled: interrupted" in caplog.text


def test_an_epoch_that_ends_while_cancelling_is_aborted():
    def late():
        bench.cancelled.set()
        return result("late")

    bench = Bench(late)
    assert bench.run() is None
    assert bench.aborted == ["late"], "nobody else knows what its sinks have staged"
