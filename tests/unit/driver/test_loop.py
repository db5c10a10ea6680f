"""The loop: performs instructions in their order, reports, and brings every job to its end."""

from __future__ import annotations

import logging
import threading
import time

import pytest

from headrace.common.errors import JobExecutionError
from headrace.common.job_status import JobStatus
from headrace.driver import events as on
from headrace.driver import instructions as do
from headrace.driver.job_machine import InternalError, JobMachine
from headrace.driver.loop import Loop
from headrace.driver.requests import Request, Requests
from headrace.worker.messages import CheckpointOrder

WAIT = 30


class Restarts:
    def __init__(self, times):
        self.left = times

    def delay(self, now):
        self.left -= 1
        return 0.0 if self.left >= 0 else None


class Executor:
    """Performs all instructions of a job of three epochs by default; `steps` replace what single ones do."""

    def __init__(self, restarts=0, overlap=1, **steps):
        self.entered, self.performed = [], []
        self.loop = Loop(JobMachine("job", Restarts(restarts), overlap=overlap), self.entered.append, "job")
        default = {
            do.Begin: lambda i: [on.Begun()],
            do.PlanEpoch: lambda i: [on.EpochPlanned(CheckpointOrder(now=i.forced))],
            do.RunEpoch: self.run_epoch,
            do.ConcludeCheckpoint: lambda i: [on.CheckpointFailed(i.epoch, "full")],
            do.SettleEpoch: lambda i: [on.EpochSettled(i.epoch, ended=i.epoch >= 3)],
            do.Finish: lambda i: [on.Finished()],
            do.Wait: lambda i: [on.WaitOver()],
            do.Answer: lambda i: i.request.succeed(i.value),
            do.Refuse: lambda i: i.request.fail(i.error),
            do.CloseExecutor: lambda i: [on.ExecutorClosed()],
            do.Dispose: lambda i: [on.Disposed()],
        }
        kinds = [*default, do.TakeEpoch, do.ReportFailure, do.GiveUpProgress, do.ClearUp, do.End]
        named = {getattr(do, name): step for name, step in steps.items()}
        self.loop.performers = {kind: self._noting({**default, **named}.get(kind)) for kind in kinds}

    def _noting(self, step):
        def perform(instruction):
            self.performed.append(type(instruction).__name__)
            return (step(instruction) if step is not None else None) or ()

        return perform

    def run_epoch(self, instruction):
        yield on.EpochAcknowledged(instruction.epoch, "acks", attempt=instruction.attempt)
        if instruction.order.now:
            yield on.CheckpointAcknowledged(instruction.epoch, attempt=instruction.attempt)

    def run(self):
        self.loop.run(self.loop.tell(on.Started()))
        return self.loop.machine


def test_a_job_runs_to_its_end():
    executor = Executor()
    assert executor.run().status is JobStatus.FINISHED
    an_epoch = ["PlanEpoch", "RunEpoch", "TakeEpoch", "SettleEpoch"]
    ending = ["Finish", "CloseExecutor", "ClearUp", "Dispose", "End"]
    assert executor.performed == ["Begin", *an_epoch * 3, *ending]
    assert executor.entered == [JobStatus.RUNNING, JobStatus.RUNNING, JobStatus.FINISHED], "again when it has begun"


def failing(times, then):
    """A step that fails at first."""
    left = [times]

    def step(instruction):
        left[0] -= 1
        if left[0] >= 0:
            raise OSError("no luck")
        return then(instruction)

    return step


def test_an_exception_is_a_failure_and_drops_the_instructions_behind_it():
    executor = Executor(restarts=1, TakeEpoch=failing(1, lambda i: ()))
    assert executor.run().status is JobStatus.FINISHED
    assert executor.performed[:8] == [
        *("Begin", "PlanEpoch", "RunEpoch", "TakeEpoch"),
        *("GiveUpProgress", "ReportFailure", "Wait", "Begin"),
    ]
    statuses = [JobStatus.RUNNING, JobStatus.RUNNING, JobStatus.RESTARTING, JobStatus.RUNNING, JobStatus.FINISHED]
    assert executor.entered == statuses


def test_what_was_reported_before_a_failure_is_void():
    def acknowledges_and_fails(instruction):
        yield on.EpochAcknowledged(instruction.epoch, "acks", attempt=instruction.attempt)
        if instruction.attempt == 0:
            raise OSError("torn")

    executor = Executor(restarts=1, RunEpoch=acknowledges_and_fails)
    assert executor.run().status is JobStatus.FINISHED
    assert executor.performed[:4] == ["Begin", "PlanEpoch", "RunEpoch", "GiveUpProgress"], "nothing was taken"


@pytest.mark.parametrize("step", ["CloseExecutor", "ClearUp", "Dispose", "End"])
@pytest.mark.parametrize("error", [OSError("no luck"), KeyboardInterrupt()])
def test_a_job_ends_whatever_fails_at_its_end(step, error):
    def fail(instruction):
        raise error

    machine = Executor(**{step: fail}).run()
    assert machine.ended
    assert machine.status is (JobStatus.FINISHED if step == "End" else JobStatus.FAILED)


def test_an_interruption_ends_the_job_at_once():
    def interrupted(instruction):
        raise KeyboardInterrupt

    machine = Executor(restarts=9, RunEpoch=interrupted).run()
    assert machine.status is JobStatus.FAILED and machine.attempt == 0


def test_a_contradiction_fails_the_job_with_its_story(caplog):
    executor = Executor(restarts=9, PlanEpoch=lambda i: [on.Disposed()])
    machine = executor.run()
    assert isinstance(machine.error, InternalError) and machine.status is JobStatus.FAILED
    assert "Disposed cannot happen while the job is RUNNING" in caplog.text
    assert "CREATED -> STARTING: Started => Begin(attempt=0)" in caplog.text


def test_each_transition_is_logged_at_debug_level(caplog):
    with caplog.at_level(logging.DEBUG, "headrace"):
        Executor().run()
    assert "'job' " in caplog.text and "RUNNING: EpochPlanned => RunEpoch(epoch=1, attempt=0" in caplog.text


def test_a_request_of_another_thread_is_served_between_epochs():
    executor = Executor(SettleEpoch=lambda i: [on.EpochSettled(i.epoch, ended=request.done.is_set())])
    requests = Requests(lambda request: executor.loop.tell_and_perform(on.RequestArrived(request)))
    request = Request(checkpoint=True)
    thread = threading.Thread(target=executor.run, daemon=True)
    thread.start()
    with pytest.raises(JobExecutionError, match="its checkpoint could not be completed: full"):
        requests.ask(request)
    thread.join(WAIT)
    assert not thread.is_alive()
    with pytest.raises(JobExecutionError, match="Job 'job' has ended: FINISHED"):
        requests.post(Request(checkpoint=True))


def test_an_executor_may_acknowledge_from_another_thread_while_the_next_epoch_runs():
    """As resident slots do: they accept an epoch, and acknowledge it over their connections."""
    most = [0]
    taken: list[int] = []
    under_way: list[int] = []
    enough = threading.Event()

    def accept(instruction):
        under_way.append(instruction.epoch)
        most[0] = max(most[0], len(under_way))
        if len(under_way) == 2:
            enough.set()
        return [on.EpochAccepted(instruction.epoch, attempt=instruction.attempt)]

    def take(instruction):
        taken.append(instruction.epoch)

    executor = Executor(overlap=2, RunEpoch=accept, TakeEpoch=take)

    def slots():
        deadline = time.monotonic() + WAIT
        assert enough.wait(WAIT)
        while not executor.loop.machine.ended and time.monotonic() < deadline:
            if under_way:
                executor.loop.post(on.EpochAcknowledged(under_way.pop(0), "acks", attempt=0))
            else:
                threading.Event().wait(0.001)

    thread = threading.Thread(target=slots, daemon=True)
    thread.start()
    assert executor.run().status is JobStatus.FINISHED
    thread.join(WAIT)
    assert most == [2] and taken[:3] == [1, 2, 3] and taken == sorted(taken)
