"""Random lives of a job: the pure machine in a small world in which anything may fail, at any point.

The world has one source of records 0, 1, 2 ...; an epoch reads one of them. Checkpoints commit what was read. Whatever
happens, each record must be committed and handed to the program once, and each request must get one answer.
"""

from __future__ import annotations

import random
from collections import deque

import pytest

from headrace.checkpoint.model import Manifest
from headrace.common.errors import JobExecutionError
from headrace.common.job_status import JobStatus
from headrace.driver import events as on
from headrace.driver.collected_output import CollectedOutput
from headrace.driver.job_machine import JobMachine
from headrace.driver.requests import Request
from headrace.monitoring.progress import ProgressView
from headrace.worker.messages import CheckpointOrder, DriverOutput

RECORDS = 12


class Mishap(Exception):
    """The world fails here."""


class Restarts:
    def __init__(self, dice):
        self.left = dice.choice((0, 3, 10, 100))

    def delay(self, now):
        self.left -= 1
        return 0.0 if self.left >= 0 else None


class World:
    """Performs instructions on plain lists. `self.at_risk` may raise wherever a real step could fail."""

    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.overlap = self.dice.choice((1, 1, 2, 3))
        self.mishaps = self.dice.choice((0.0, 0.01, 0.05))
        self.machine = JobMachine("job", Restarts(self.dice), clock=lambda: 0.0, overlap=self.overlap)
        self.results = CollectedOutput(ProgressView("job", "never"), hold=True)
        self.durable = 0, 0, False
        """The last checkpoint: its number, the records that it covers, and whether the job had finished then."""
        self.committed = []
        self.position = self.read = 0
        self.posted = deque()
        self.late = deque()
        """Checkpoints whose files take longer to write than the next epoch runs."""
        self.requests = []
        self.savepoints = {}
        self.ended = 0

    def at_risk(self):
        if self.dice.random() < self.mishaps:
            raise Mishap

    def live(self):
        events = deque([on.Started()])
        for _ in range(5000):
            self._others_interfere()
            if not events and not self.posted and self.late:
                self.posted.append(self.late.popleft())
            if not events and not self.posted:
                assert self.machine.ended, "the machine has stalled:\n" + "\n".join(map(str, self.machine.story))
                return
            event = events.popleft() if events else self.posted.popleft()
            if isinstance(event, on.Failed):
                events.clear()
            try:
                for instruction in self.machine.handle(event):
                    events.extend(getattr(self, type(instruction).__name__)(instruction) or ())
            except Mishap:
                events = deque([on.Failed(JobExecutionError("mishap"))])
        raise AssertionError("the job does not come to an end")

    def _others_interfere(self):
        chance = self.dice.random()
        if chance < 0.004:
            self._foreign(on.CancelAsked())
        elif chance < 0.06:
            kind = self.dice.choice(("checkpoint", "savepoint", "rescale", "stop", "drain"))
            request = {
                "checkpoint": Request(checkpoint=True),
                "savepoint": Request(savepoint=True, directory="/s"),
                "rescale": Request(parallelism=self.dice.randint(1, 3)),
                "stop": Request(savepoint=True, directory="/s", stop=True),
                "drain": Request(savepoint=True, directory="/s", stop=True, drain=True),
            }[kind]
            if kind in ("stop", "drain") and self.dice.random() < 0.6:
                return
            self.requests.append(request)
            self._foreign(on.RequestArrived(request))

    def _foreign(self, event):
        if self.machine.state.name != "CREATED" or isinstance(event, on.RequestArrived):
            for instruction in self.machine.handle(event):
                getattr(self, type(instruction).__name__)(instruction)

    # -- what the performers do in production -----------------------------------------------------------------------

    def Begin(self, instruction):
        self.at_risk()
        number, position, finished = self.durable
        self.results.recovered(number)
        self.position = self.read = position
        self.settled, self.draining = True, False
        return [on.Begun(finished=finished)]

    def PlanEpoch(self, instruction):
        self.at_risk()
        now = (instruction.forced and self.dice.random() < 0.9) or self.dice.random() < 0.3
        return [on.EpochPlanned(CheckpointOrder(number=self.durable[0] + 1, now=now), "no space")]

    def RunEpoch(self, instruction):
        epoch, attempt = instruction.epoch, instruction.attempt
        self.draining |= instruction.drain
        record = [self.read] if self.read < RECORDS and not self.draining else []
        self.read += len(record)
        ended = self.read == RECORDS or self.draining
        acknowledged = [on.EpochAcknowledged(epoch, (record, ended), attempt=attempt)]
        if instruction.order.now:
            if self.overlap > 1 and self.dice.random() < 0.1:
                acknowledged = [on.CheckpointFailed(epoch, "expired", attempt=attempt), *acknowledged]
            else:
                acknowledged.append(on.CheckpointAcknowledged(epoch, attempt=attempt))
        if self.dice.random() < self.mishaps:
            acknowledged.append(on.Failed(JobExecutionError("lost"), attempt=attempt))
        if self.overlap > 1:
            if isinstance(acknowledged[-1], on.CheckpointAcknowledged) and self.dice.random() < 0.5:
                self.late.append(acknowledged.pop())
            self.posted.extend(acknowledged)
            return [on.EpochAccepted(epoch, attempt=attempt)]
        self.at_risk()
        if self.machine.status is JobStatus.CANCELLING:
            return [on.EpochAbandoned(epoch, attempt=attempt)]
        return acknowledged

    def TakeEpoch(self, instruction):
        record, _ = instruction.result
        self.at_risk()
        self.position += len(record)
        self.settled = False
        self.results.take([DriverOutput(collected=[("all", list(record))])])
        self.at_risk()

    def _commit(self, finished=False):
        self.results.seal()
        self.at_risk()
        before = self.durable[1]
        self.durable = self.durable[0] + 1, self.position, finished
        self.committed += range(before, self.position)
        self.at_risk()
        self.results.completed(self.durable[0])
        self.at_risk()
        self.settled = True

    def ConcludeCheckpoint(self, instruction):
        if self.dice.random() < 0.1:
            self.results.seal()
            return [on.CheckpointFailed(instruction.epoch, "no space")]
        self._commit()
        return [on.CheckpointCompleted(instruction.epoch, Manifest("job", 1, self.durable[0], "a", None))]

    def WriteSavepoint(self, instruction):
        self.at_risk()
        if self.dice.random() < 0.1 and not self.draining:
            return [on.SavepointFailed(OSError("no space"))]
        self.savepoints[f"/s/{instruction.manifest.epoch}"] = self.durable[1]
        return [on.SavepointWritten(f"/s/{instruction.manifest.epoch}")]

    def SettleEpoch(self, instruction):
        self.at_risk()
        return [on.EpochSettled(instruction.epoch, instruction.result[1], self.dice.choice((None, 0.0)))]

    def Rescale(self, instruction):
        self.at_risk()
        if not self.settled:
            return [on.CheckpointNeeded()]
        if self.dice.random() < 0.2:
            return [on.RescaleRefused(JobExecutionError("no executor"))]
        assert self.read == self.position, "an epoch is under way"
        return [on.Rescaled()]

    def Finish(self, instruction):
        self.at_risk()
        if instruction.ended:
            self._commit(finished=True)
        self.at_risk()
        return [on.Finished()]

    def Wait(self, instruction):
        return [on.WaitOver()]

    def Answer(self, instruction):
        instruction.request.succeed(instruction.value)

    def Refuse(self, instruction):
        instruction.request.fail(instruction.error)

    def Interrupt(self, instruction):
        if self.overlap > 1:
            self.posted.append(on.EpochAbandoned(0, attempt=self.machine.attempt))

    def GiveUpProgress(self, instruction):
        assert self.machine.status is JobStatus.RESTARTING

    def ReportFailure(self, instruction):
        pass

    def CloseExecutor(self, instruction):
        return [on.ExecutorClosed() if self.dice.random() < 0.9 else on.CloseFailed(JobExecutionError("close"))]

    def ClearUp(self, instruction):
        assert instruction.outcome is not None

    def Dispose(self, instruction):
        return [on.Disposed()]

    def End(self, instruction):
        self.ended += 1
        self.results.end()


@pytest.mark.parametrize("block", range(8))
def test_nothing_is_lost_doubled_or_left_unanswered(block):
    endings = set()
    for seed in range(block * 250, (block + 1) * 250):
        world = World(seed)
        world.live()
        endings.add(world.machine.status)
        story = f"seed {seed}:\n" + "\n".join(map(str, world.machine.story))
        covered = list(range(world.durable[1]))
        assert world.ended == 1, story
        assert world.committed == covered, story
        collected = list(world.results.read("all", lambda: None))
        assert collected == covered[: len(collected)], story
        assert all(request.done.is_set() for request in world.requests), story
        stopped = [r.answer for r in world.requests if r.stop and r.error is None]
        assert len(stopped) <= 1, story
        if world.machine.status is JobStatus.FINISHED:
            assert collected == covered, story
            assert stopped or len(covered) == RECORDS, story
        if stopped:
            assert world.savepoints[stopped[0]] == world.durable[1], f"the job went on after its savepoint, {story}"
    assert endings == {JobStatus.FINISHED, JobStatus.FAILED, JobStatus.CANCELED}
