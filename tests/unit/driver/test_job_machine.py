"""The job machine, event by event: above all where a failure, a cancellation or a request meets another step."""

from __future__ import annotations

import pytest

from headrace.checkpoint.model import Manifest
from headrace.common.errors import ConfigurationError, HeadraceError, JobExecutionError
from headrace.common.job_status import JobStatus
from headrace.driver import events as on
from headrace.driver import instructions as do
from headrace.driver.job_machine import InternalError, JobMachine
from headrace.driver.requests import Request
from headrace.driver.transitions import State
from headrace.worker.messages import CheckpointOrder

PLAIN, CHECKPOINT = CheckpointOrder(), CheckpointOrder(number=1, now=True)
ERROR = JobExecutionError("a process died")


class Always:
    """Restarts after three seconds, as often as it is told."""

    def __init__(self, times):
        self.left = times

    def delay(self, now):
        self.left -= 1
        return 3.0 if self.left >= 0 else None


def made(restarts=5, overlap=1):
    return JobMachine("job", Always(restarts), clock=lambda: 100.0, overlap=overlap)


def told(machine, *events):
    """Tell all events; return the instructions that the last one gave."""
    instructions = []
    for event in events:
        instructions = machine.handle(event)
    return instructions


def kinds(instructions):
    return [type(instruction) for instruction in instructions]


def running(restarts=5, overlap=1, *requests):
    machine = made(restarts, overlap)
    told(machine, on.Started(), *(on.RequestArrived(r) for r in requests), on.Begun())
    return machine


def manifest(number=1):
    return Manifest("job", 1, number, "attempt", None)


def epoch(number=1, attempt=0, order=PLAIN):
    """The events of an epoch up to its acknowledgements."""
    acknowledged = [on.EpochPlanned(order), on.EpochAcknowledged(number, "acks", attempt=attempt)]
    return [*acknowledged, on.CheckpointAcknowledged(number, attempt=attempt)] if order.now else acknowledged


def savepoint(**kind):
    return Request(savepoint=True, directory="/savepoints", **kind)


def test_a_job_from_start_to_end():
    machine = made()
    assert machine.status is JobStatus.CREATED
    assert machine.handle(on.Started()) == [do.Begin(0)] and machine.status is JobStatus.RUNNING
    assert machine.handle(on.Begun()) == [do.PlanEpoch(forced=False)]
    assert machine.handle(on.EpochPlanned(PLAIN)) == [do.RunEpoch(1, 0, PLAIN)]
    assert machine.handle(on.EpochAcknowledged(1, "acks", attempt=0)) == [
        do.TakeEpoch(1, "acks"),
        do.SettleEpoch(1, "acks"),
    ]
    assert machine.handle(on.EpochSettled(1, ended=True, pause=9.0)) == [do.Finish(ended=True)]
    assert machine.handle(on.Finished()) == [do.CloseExecutor()] and machine.status is JobStatus.RUNNING
    assert machine.handle(on.ExecutorClosed()) == [do.ClearUp(JobStatus.FINISHED, None, False), do.Dispose()]
    assert machine.handle(on.Disposed()) == [do.End()]
    assert (machine.state, machine.status, machine.ended) == (State.FINISHED, JobStatus.FINISHED, True)


def test_a_checkpoint_is_concluded_before_the_next_epoch():
    machine = running()
    assert told(machine, *epoch(1, order=CHECKPOINT)) == [do.ConcludeCheckpoint(1, CHECKPOINT, "acks")]
    assert machine.handle(on.CheckpointCompleted(1, manifest())) == [do.SettleEpoch(1, "acks")]
    assert machine.handle(on.EpochSettled(1, ended=False)) == [do.PlanEpoch(forced=False)]


def test_the_loop_pauses_when_nothing_came_and_nobody_asks():
    machine = running()
    assert told(machine, *epoch(1), on.EpochSettled(1, ended=False, pause=0.2)) == [do.Wait(0.2)]
    assert machine.handle(on.WaitOver()) == [do.PlanEpoch(forced=False)]
    told(machine, *epoch(2), on.RequestArrived(Request(checkpoint=True)))
    assert machine.handle(on.EpochSettled(2, ended=False, pause=0.2)) == [do.PlanEpoch(forced=True)]


def test_a_finished_job_has_nothing_to_do_after_recovery():
    machine = made()
    assert told(machine, on.Started(), on.Begun(finished=True)) == [do.CloseExecutor()]
    told(machine, on.ExecutorClosed(), on.Disposed())
    assert machine.status is JobStatus.FINISHED


# -- failures -------------------------------------------------------------------------------------------------------


def test_a_failure_restarts_the_job_from_its_last_checkpoint():
    machine = running()
    told(machine, on.EpochPlanned(PLAIN))
    assert machine.handle(on.Failed(ERROR)) == [
        do.GiveUpProgress(ERROR, 3.0),
        do.ReportFailure(ERROR),
        do.Wait(3.0),
    ]
    assert machine.status is JobStatus.RESTARTING
    assert machine.handle(on.WaitOver()) == [do.Begin(1)] and machine.status is JobStatus.RESTARTING
    assert machine.handle(on.Begun()) == [do.PlanEpoch(forced=False)] and machine.status is JobStatus.RUNNING
    assert machine.handle(on.EpochPlanned(PLAIN)) == [do.RunEpoch(2, 1, PLAIN)], "numbers of epochs are not used twice"


@pytest.mark.parametrize(
    ("failure", "restarts"),
    [(on.Failed(ERROR), 0), (on.Failed(ConfigurationError("no such key")), 5), (on.Failed(ERROR, final=True), 5)],
    ids=["no restarts left", "restarting cannot help", "final"],
)
def test_a_failure_that_the_job_does_not_survive(failure, restarts):
    machine = running(restarts)
    told(machine, on.EpochPlanned(PLAIN))
    assert machine.handle(failure) == [do.ReportFailure(failure.error), do.CloseExecutor()]
    cleared = machine.handle(on.ExecutorClosed())
    assert cleared == [do.ClearUp(JobStatus.FAILED, failure.error, False), do.Dispose()]
    told(machine, on.Disposed())
    assert machine.status is JobStatus.FAILED and machine.error is failure.error


def test_what_an_attempt_that_is_over_still_reports_is_ignored():
    """Ten tasks of a lost process fail one after the other, others acknowledge: that is one failure, and no epoch."""
    machine = running(restarts=1)
    told(machine, on.EpochPlanned(CHECKPOINT), on.Failed(ERROR, attempt=0))
    for late in (
        on.Failed(ERROR, attempt=0),
        on.EpochAcknowledged(1, "acks", attempt=0),
        on.CheckpointAcknowledged(1, attempt=0),
    ):
        assert machine.handle(late) == [] and machine.story[-1].ignored
    assert (machine.state, machine.attempt) == (State.RESTARTING, 1)
    told(machine, on.WaitOver(), on.Begun(), on.EpochPlanned(PLAIN))
    assert machine.handle(on.EpochAcknowledged(2, "old", attempt=0)) == []
    assert kinds(machine.handle(on.EpochAcknowledged(2, "new", attempt=1))) == [do.TakeEpoch, do.SettleEpoch]


@pytest.mark.parametrize("committed", [False, True], ids=["before the commit", "between commit and settling"])
def test_a_failure_around_the_commit_goes_through_recovery(committed):
    """Whether the checkpoint counts is for recovery to find out: the machine neither settles nor orders anything."""
    machine = running()
    told(machine, *epoch(1, order=CHECKPOINT))
    if committed:
        told(machine, on.CheckpointCompleted(1, manifest()))
    assert kinds(machine.handle(on.Failed(ERROR))) == [do.GiveUpProgress, do.ReportFailure, do.Wait]
    assert machine.handle(on.WaitOver()) == [do.Begin(1)]
    assert machine.handle(on.Begun()) == [do.PlanEpoch(forced=False)]


def test_a_failure_of_recovery_counts_as_a_failure():
    machine = made(restarts=1)
    told(machine, on.Started(), on.Failed(ERROR), on.WaitOver())
    assert machine.state is State.RECOVERING
    assert kinds(machine.handle(on.Failed(ERROR))) == [do.ReportFailure, do.CloseExecutor]
    assert machine.status is JobStatus.RESTARTING, "it was never running again"


def test_a_failed_close_fails_a_job_that_had_finished():
    machine = running()
    told(machine, *epoch(1), on.EpochSettled(1, ended=True), on.Finished())
    assert kinds(machine.handle(on.CloseFailed(ERROR))) == [do.ReportFailure, do.ClearUp, do.Dispose]
    told(machine, on.Disposed())
    assert (machine.status, machine.error) == (JobStatus.FAILED, ERROR)


def test_a_failed_close_does_not_hide_why_the_job_failed():
    machine = running(restarts=0)
    told(machine, on.EpochPlanned(PLAIN), on.Failed(ERROR))
    assert kinds(machine.handle(on.CloseFailed(JobExecutionError("close")))) == [do.ClearUp, do.Dispose]
    assert machine.error is ERROR


def test_a_function_that_could_not_be_closed_fails_the_job_after_its_output_is_committed():
    machine = running()
    told(machine, *epoch(1), on.EpochSettled(1, ended=False, not_closed=ERROR))
    told(machine, *epoch(2), on.EpochSettled(2, ended=True), on.Finished())
    assert machine.handle(on.ExecutorClosed()) == [
        do.ClearUp(JobStatus.FINISHED, None, False),
        do.ReportFailure(ERROR),
        do.Dispose(),
    ]
    told(machine, on.Disposed())
    assert (machine.status, machine.error) == (JobStatus.FAILED, ERROR)


def test_nothing_keeps_a_closing_job_from_its_end():
    machine = running()
    told(machine, *epoch(1), on.EpochSettled(1, ended=True), on.Finished())
    assert kinds(machine.handle(on.Failed(ERROR, final=True))) == [do.ReportFailure, do.ClearUp, do.Dispose]
    assert machine.handle(on.Failed(ERROR)) == [do.End()]
    assert machine.status is JobStatus.FAILED and machine.handle(on.Failed(ERROR)) == []


# -- cancelling -----------------------------------------------------------------------------------------------------


def test_cancelling_ends_the_epoch_under_way():
    machine = running()
    told(machine, on.EpochPlanned(PLAIN))
    assert machine.handle(on.CancelAsked()) == [do.Interrupt()] and machine.status is JobStatus.CANCELLING
    assert machine.handle(on.EpochAbandoned(1, attempt=0)) == [do.CloseExecutor()]
    assert machine.handle(on.ExecutorClosed()) == [do.ClearUp(JobStatus.CANCELED, None, False), do.Dispose()]
    told(machine, on.Disposed())
    assert machine.status is JobStatus.CANCELED and machine.handle(on.CancelAsked()) == []


@pytest.mark.parametrize(
    ("before", "reported"),
    [
        ([], on.EpochPlanned(PLAIN)),
        ([on.EpochPlanned(PLAIN), on.Failed(ERROR)], on.WaitOver()),
        ([on.EpochPlanned(PLAIN), on.Failed(ERROR), on.WaitOver()], on.Begun()),
        ([*epoch(1)], on.EpochSettled(1, ended=False, pause=5.0)),
        ([*epoch(1), on.EpochSettled(1, ended=True)], on.Finished()),
    ],
    ids=["planning", "waiting to restart", "recovering", "settling", "finishing"],
)
def test_cancelling_at_any_other_point_closes_with_the_next_report(before, reported):
    machine = running()
    told(machine, *before, on.CancelAsked())
    assert machine.handle(reported) == [do.CloseExecutor()]
    told(machine, on.ExecutorClosed(), on.Disposed())
    assert machine.status is JobStatus.CANCELED


def test_cancelling_does_not_tear_a_checkpoint_apart():
    request = savepoint()
    machine = running(5, 1, request)
    told(machine, *epoch(1, order=CHECKPOINT), on.CancelAsked())
    assert kinds(machine.handle(on.CheckpointCompleted(1, manifest()))) == [do.WriteSavepoint]
    assert kinds(machine.handle(on.SavepointWritten("/s"))) == [do.Answer, do.SettleEpoch]
    assert machine.handle(on.EpochSettled(1, ended=False)) == [do.CloseExecutor()]


def test_cancelling_during_a_rescale_answers_it_and_orders_nothing():
    for reported, answer in ((on.Rescaled(), do.Answer), (on.RescaleRefused(ERROR), do.Refuse)):
        machine = running(5, 1, Request(parallelism=3))
        assert machine.state is State.RESCALING
        machine.handle(on.CancelAsked())
        assert kinds(machine.handle(reported)) == [answer, do.CloseExecutor]
        assert kinds(told(machine, on.ExecutorClosed(), on.Disposed())) == [do.End]


def test_cancelling_a_job_that_is_closing_does_not_change_how_it_ends():
    machine = running()
    told(machine, *epoch(1), on.EpochSettled(1, ended=True), on.Finished())
    assert machine.handle(on.CancelAsked()) == [do.Interrupt()] and machine.status is JobStatus.CANCELLING
    assert kinds(machine.handle(on.CloseFailed(ERROR))) == [do.ClearUp, do.Dispose], "the cancellation tore it"
    told(machine, on.Disposed())
    assert machine.status is JobStatus.FINISHED


def test_an_interrupted_job_is_cleared_up_as_such():
    machine = running()
    told(machine, on.CancelAsked(), on.CancelAsked(interrupted=True), on.EpochPlanned(PLAIN))
    assert machine.handle(on.ExecutorClosed())[0] == do.ClearUp(JobStatus.CANCELED, None, True)


# -- requests -------------------------------------------------------------------------------------------------------


def test_requests_are_served_one_after_the_other():
    first, second = Request(checkpoint=True), savepoint()
    machine = running(5, 1, first, second)
    told(machine, *epoch(1, order=CHECKPOINT))
    assert machine.handle(on.CheckpointCompleted(1, manifest(7)))[0] == do.Answer(first, 7)
    assert machine.handle(on.EpochSettled(1, ended=False)) == [do.PlanEpoch(forced=True)]
    told(machine, *epoch(2, order=CHECKPOINT))
    assert machine.handle(on.CheckpointCompleted(2, manifest(8))) == [do.WriteSavepoint("/savepoints", manifest(8))]
    assert machine.handle(on.SavepointWritten("/s"))[0] == do.Answer(second, "/s")
    assert machine.handle(on.EpochSettled(2, ended=False)) == [do.PlanEpoch(forced=False)]


def test_a_request_whose_checkpoint_cannot_be_made_is_refused_and_the_job_continues():
    request = savepoint(stop=True, drain=True)
    machine = running(5, 1, request)
    refused, run = machine.handle(on.EpochPlanned(PLAIN, "disk full"))
    assert refused.request is request and "disk full" in str(refused.error)
    assert run == do.RunEpoch(1, 0, PLAIN, drain=False), "sources are not told to end for nothing"


def test_a_rescale_waits_for_a_checkpoint():
    request = Request(parallelism=3)
    machine = running(5, 1, request)
    assert machine.handle(on.CheckpointNeeded()) == [do.PlanEpoch(forced=True)]
    told(machine, *epoch(1, order=CHECKPOINT))
    assert machine.handle(on.CheckpointCompleted(1, manifest())) == [do.SettleEpoch(1, "acks")]
    assert machine.handle(on.EpochSettled(1, ended=False)) == [do.Rescale(request)]
    assert machine.handle(on.Rescaled()) == [do.Answer(request, 3), do.PlanEpoch(forced=False)]


def test_a_failed_checkpoint_refuses_the_rescale_that_needs_it():
    request = Request(parallelism=3)
    machine = running(5, 1, request)
    told(machine, on.CheckpointNeeded(), *epoch(1, order=CHECKPOINT))
    assert kinds(machine.handle(on.CheckpointFailed(1, "full"))) == [do.Refuse, do.SettleEpoch]
    assert machine.handle(on.EpochSettled(1, ended=False)) == [do.PlanEpoch(forced=False)]


def test_a_failure_refuses_what_it_voids_and_keeps_rescales_that_wait():
    stop, later, saved = savepoint(stop=True), Request(parallelism=3), savepoint()
    machine = running(5, 1, stop, later, saved)
    told(machine, *epoch(1, order=CHECKPOINT))
    refused = [i for i in machine.handle(on.Failed(JobExecutionError("the disk is full"))) if isinstance(i, do.Refuse)]
    assert [i.request for i in refused] == [stop, saved]
    assert "stop with a savepoint failed because the job failed: the disk is full" in str(refused[0].error)
    told(machine, on.WaitOver())
    assert machine.handle(on.Begun()) == [do.Rescale(later)]


def test_a_failure_during_a_rescale_refuses_it():
    request = Request(parallelism=3)
    machine = running(5, 1, request)
    refused = machine.handle(on.Failed(ERROR))[0]
    assert isinstance(refused, do.Refuse) and refused.request is request
    told(machine, on.WaitOver())
    assert machine.handle(on.Begun()) == [do.PlanEpoch(forced=False)]


def test_a_stop_is_answered_when_nothing_runs_any_more():
    request = savepoint(stop=True)
    machine = running(5, 1, request)
    told(machine, *epoch(1, order=CHECKPOINT), on.CheckpointCompleted(1, manifest()))
    assert machine.handle(on.SavepointWritten("/s")) == [do.SettleEpoch(1, "acks")], "no answer yet"
    assert machine.handle(on.EpochSettled(1, ended=False, pause=1.0)) == [do.Finish(ended=False)]
    assert machine.handle(on.Finished()) == [do.Answer(request, "/s"), do.CloseExecutor()]


def test_a_stop_that_fails_before_its_savepoint_is_written_is_refused_and_the_job_continues():
    request = savepoint(stop=True)
    machine = running(5, 1, request)
    told(machine, *epoch(1, order=CHECKPOINT), on.CheckpointCompleted(1, manifest()))
    refused, *others = machine.handle(on.Failed(ERROR))
    assert refused.request is request and kinds(others) == [do.GiveUpProgress, do.ReportFailure, do.Wait]
    told(machine, on.WaitOver())
    assert machine.handle(on.Begun()) == [do.PlanEpoch(forced=False)], "it does not stop"


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize("drain", [False, True])
def test_a_stop_that_fails_after_its_savepoint_is_written_stops(settled, drain):
    """Others start from the savepoint: records after it must not be processed here too."""
    request = savepoint(stop=True, drain=drain)
    machine = running(5, 1, request)
    told(machine, *epoch(1, order=CHECKPOINT), on.CheckpointCompleted(1, manifest()), on.SavepointWritten("/s"))
    if settled:
        told(machine, on.EpochSettled(1, ended=drain))
    assert machine.handle(on.Failed(ERROR)) == [
        do.ReportFailure(ERROR),
        do.Answer(request, "/s"),
        do.CloseExecutor(),
    ]
    told(machine, on.ExecutorClosed(), on.Disposed())
    assert machine.status is JobStatus.FINISHED


def test_a_stop_that_is_cancelled_keeps_its_savepoint():
    request = savepoint(stop=True)
    machine = running(5, 1, request)
    told(machine, *epoch(1, order=CHECKPOINT), on.CheckpointCompleted(1, manifest()), on.SavepointWritten("/s"))
    machine.handle(on.CancelAsked())
    assert machine.handle(on.EpochSettled(1, ended=False)) == [do.Answer(request, "/s"), do.CloseExecutor()]


def test_a_savepoint_that_cannot_be_written_does_not_stop_the_job():
    request = savepoint(stop=True)
    machine = running(5, 1, request)
    told(machine, *epoch(1, order=CHECKPOINT), on.CheckpointCompleted(1, manifest()))
    assert kinds(machine.handle(on.SavepointFailed(OSError("full")))) == [do.Refuse, do.SettleEpoch]
    assert machine.handle(on.EpochSettled(1, ended=False)) == [do.PlanEpoch(forced=False)]


def test_a_failure_while_draining_restarts_with_sources_that_have_not_ended():
    request = savepoint(stop=True, drain=True)
    machine = running(5, 1, request)
    assert machine.handle(on.EpochPlanned(CHECKPOINT)) == [do.RunEpoch(1, 0, CHECKPOINT, drain=True)]
    told(machine, on.EpochAcknowledged(1, "acks", attempt=0), on.CheckpointAcknowledged(1, attempt=0))
    refused, *others = machine.handle(on.CheckpointFailed(1, "full"))
    assert refused.request is request
    assert kinds(others) == [do.GiveUpProgress, do.ReportFailure, do.Wait], "the drained ledger must not be used"
    told(machine, on.WaitOver(), on.Begun())
    assert machine.handle(on.EpochPlanned(PLAIN)) == [do.RunEpoch(2, 1, PLAIN, drain=False)]


def test_the_end_of_the_job_answers_all_requests():
    asked = [savepoint(), Request(parallelism=2), Request(checkpoint=True)]
    machine = running(5, 1, *asked)
    told(machine, on.CancelAsked(), on.EpochPlanned(CHECKPOINT), on.ExecutorClosed())
    end, *refused = machine.handle(on.Disposed())
    assert end == do.End() and [i.request for i in refused] == asked
    assert all("Job 'job' has ended: CANCELED" in str(i.error) for i in refused)
    late = Request(checkpoint=True)
    assert [i.request for i in machine.handle(on.RequestArrived(late))] == [late]


# -- epochs that overlap --------------------------------------------------------------------------------------------


def accepted(machine, *numbers, order=PLAIN):
    for number in numbers:
        told(machine, on.EpochPlanned(order), on.EpochAccepted(number, attempt=0))


def test_the_next_epoch_runs_while_a_checkpoint_is_acknowledged():
    machine = running(overlap=2)
    accepted(machine, 1, order=CHECKPOINT)
    accepted(machine, 2)
    assert machine.handle(on.EpochAcknowledged(1, "one", attempt=0)) == [do.TakeEpoch(1, "one")]
    assert machine.handle(on.EpochAcknowledged(2, "two", attempt=0)) == [], "it would become part of the checkpoint"
    assert kinds(machine.handle(on.CheckpointAcknowledged(1, attempt=0))) == [do.ConcludeCheckpoint]
    assert machine.handle(on.CheckpointCompleted(1, manifest())) == [do.SettleEpoch(1, "one")]
    assert machine.handle(on.EpochSettled(1, ended=False)) == [do.TakeEpoch(2, "two"), do.SettleEpoch(2, "two")]


def test_no_more_epochs_are_ordered_than_may_overlap():
    machine = running(overlap=2)
    assert told(machine, on.EpochPlanned(PLAIN), on.EpochAccepted(1, attempt=0)) == [do.PlanEpoch(forced=False)]
    assert told(machine, on.EpochPlanned(PLAIN), on.EpochAccepted(2, attempt=0)) == []
    told(machine, on.EpochAcknowledged(1, "one", attempt=0))
    assert machine.handle(on.EpochSettled(1, ended=False, pause=3.0)) == [do.PlanEpoch(forced=False)]


def test_a_rescale_waits_until_no_epoch_is_under_way():
    machine = running(overlap=3)
    accepted(machine, 1, 2)
    request = Request(parallelism=4)
    machine.handle(on.RequestArrived(request))
    told(machine, on.EpochAcknowledged(1, "one", attempt=0))
    told(machine, on.EpochPlanned(PLAIN))  # planned before the request came
    assert machine.handle(on.EpochSettled(1, ended=False)) == []
    told(machine, on.EpochAcknowledged(2, "two", attempt=0), on.EpochSettled(2, ended=False))
    told(machine, on.EpochAcknowledged(3, "three", attempt=0))
    assert machine.handle(on.EpochSettled(3, ended=False)) == [do.Rescale(request)]


def test_nothing_is_ordered_behind_a_stop():
    machine = running(3, 3, savepoint(stop=True))
    assert told(machine, on.EpochPlanned(CHECKPOINT), on.EpochAccepted(1, attempt=0)) == []


def test_a_checkpoint_may_expire_before_its_epoch_is_acknowledged():
    request = savepoint()
    machine = running(3, 2, request)
    accepted(machine, 1, order=CHECKPOINT)
    assert kinds(machine.handle(on.CheckpointFailed(1, "expired"))) == [do.Refuse]
    assert kinds(machine.handle(on.EpochAcknowledged(1, "one", attempt=0))) == [do.TakeEpoch, do.SettleEpoch]


def test_a_failure_voids_all_epochs_under_way_and_held_back():
    machine = running(overlap=2)
    accepted(machine, 1, order=CHECKPOINT)
    accepted(machine, 2)
    told(machine, on.EpochAcknowledged(1, "one", attempt=0), on.EpochAcknowledged(2, "two", attempt=0))
    told(machine, on.Failed(ERROR, attempt=0), on.WaitOver(), on.Begun())
    assert machine.handle(on.EpochPlanned(PLAIN)) == [do.RunEpoch(3, 1, PLAIN)]
    assert kinds(machine.handle(on.EpochAcknowledged(3, "three", attempt=1))) == [do.TakeEpoch, do.SettleEpoch]


# -- contradictions and the story -----------------------------------------------------------------------------------


def test_an_event_that_the_table_does_not_know_is_an_internal_error_with_the_story():
    machine = running()
    with pytest.raises(InternalError) as raised:
        machine.handle(on.Disposed())
    text = str(raised.value)
    assert "Disposed cannot happen while the job is RUNNING" in text
    assert "100.000 CREATED -> STARTING: Started => Begin(attempt=0)" in text
    assert isinstance(raised.value, HeadraceError) and raised.value.code == "INTERNAL"


@pytest.mark.parametrize(
    "events",
    [
        [*epoch(1), on.EpochAcknowledged(1, "again", attempt=0)],
        [on.EpochPlanned(PLAIN), on.EpochAcknowledged(5, "acks", attempt=0)],
        [*epoch(1), on.CheckpointAcknowledged(1, attempt=0)],
        [*epoch(1), on.CheckpointFailed(1, "full")],
        [*epoch(1), on.SavepointWritten("/s")],
        [on.EpochPlanned(PLAIN), on.EpochPlanned(PLAIN)],
    ],
    ids=["acknowledged twice", "never ordered", "no checkpoint", "no checkpoint failed", "nobody asked", "too many"],
)
def test_an_event_that_does_not_fit_is_an_internal_error(events):
    machine = running()
    told(machine, *events[:-1])
    with pytest.raises(InternalError, match="does not fit what the job did while RUNNING"):
        machine.handle(events[-1])


def test_an_internal_error_can_still_end_the_job():
    machine = running()
    with pytest.raises(InternalError) as raised:
        machine.handle(on.Disposed())
    told(machine, on.Failed(raised.value, final=True), on.ExecutorClosed(), on.Disposed())
    assert machine.status is JobStatus.FAILED and machine.error is raised.value


def test_the_story_is_short_and_holds_no_payload():
    machine = running()
    for number in range(1, 200):
        told(machine, *epoch(number), on.EpochSettled(number, ended=False))
    assert len(machine.story) == 100
    assert str(machine.story[-2]) == (
        "100.000 RUNNING: EpochAcknowledged(attempt=0, epoch=199) => TakeEpoch(epoch=199), SettleEpoch(epoch=199)"
    )
