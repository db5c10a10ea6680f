"""Broken variants of the protocol and of the driver. The model must catch each: a test that cannot fail shows nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from headrace.checkpoint import instructions as do
from headrace.checkpoint import names
from headrace.checkpoint.derive import Situation
from headrace.checkpoint.driver_steps import DriverSteps
from headrace.checkpoint.errors import CheckpointError
from headrace.checkpoint.gc import Garbage
from headrace.checkpoint.model import Committable, Manifest, Observation
from headrace.checkpoint.resolve import Decision, Verdict
from headrace.checkpoint.steps import Steps, create
from headrace.checkpoint.workflow import Workflow
from headrace.worker.messages import TaskAck
from protocol_kit.simulated_job import SinkDownError
from protocol_kit.simulated_sinks import ForgetfulSink


class NoFencing(Workflow):
    """Never looks for a later generation."""

    def fence(self) -> Steps[None]:
        return
        yield


class NoSeal(Workflow):
    """Leaves the first free number to any driver."""

    def seal(self, seen: Observation, decision: Decision) -> Steps[bool]:
        yield from self.fence()
        self.epoch = seen.last_epoch + 1
        return True


class NoFenceAfterManifest(Workflow):
    """Believes that a free number proves that it is still the master."""

    finishing = False

    def finish(self) -> Steps[None]:
        self.finishing = True
        yield from super().finish()
        self.finishing = False

    def fence(self) -> Steps[None]:
        if not self.finishing:
            yield from super().fence()


class MarkerBeforeCommits(Workflow):
    """Steps 6 and 7 in the wrong order."""

    def finish(self) -> Steps[None]:
        manifest = self.unfinished
        assert manifest is not None
        yield from self.fence()
        yield from self.mark(manifest)
        yield from self.commit_all(manifest)
        self.unfinished = None


class CommitBeforeManifest(Workflow):
    """Steps 5 and 6 in the wrong order."""

    def decide_epoch(self, manifest: Manifest) -> Steps[None]:
        yield from self.commit_all(manifest)
        yield from super().decide_epoch(manifest)


class CollectsLiveFiles(Workflow):
    """Treats every file of an older epoch as dead, although deltas build on it."""

    def classify(self, seen: Observation, listed: Sequence[str], staged: Sequence[Committable]) -> Garbage:
        garbage = super().classify(seen, listed, staged)
        old = [n for n in listed if (age := names.file_age(n)) and age[0] <= (self.base.epoch if self.base else 0) - 2]
        return replace(garbage, names=tuple(dict.fromkeys((*garbage.names, *old))))


class CollectsOthersFiles(Workflow):
    """Treats everything that its manifest does not list as dead, even what a later generation is writing."""

    def classify(self, seen: Observation, listed: Sequence[str], staged: Sequence[Committable]) -> Garbage:
        live = {names.FILES + f.name for f in (self.base.files if self.base else ())}
        garbage = super().classify(seen, listed, staged)
        others = [n for n in listed if n.startswith(names.FILES) and n not in live]
        return replace(garbage, names=tuple(dict.fromkeys((*garbage.names, *others))))

    def fence(self) -> Steps[None]:
        return
        yield


class FallsBack(Workflow):
    """Goes back to the older checkpoint whenever the newest is damaged, committed or not."""

    def decide(self, seen: Observation) -> Steps[Any]:
        derived, decision = yield from super().decide(seen)
        if derived.situation is Situation.DAMAGED and derived.fallback is not None:
            decision = Decision(Verdict.REDO, derived.fallback.manifest)
        return derived, decision


class NoReplay(Workflow):
    """Treats a manifest without a marker as finished."""

    def decide(self, seen: Observation) -> Steps[Any]:
        derived, decision = yield from super().decide(seen)
        if decision.verdict is Verdict.REPLAY:
            decision = replace(decision, verdict=Verdict.GO_ON)
        return derived, decision


class DiscardsBeforeSeal(Workflow):
    """Aborts what older drivers have prepared while they can still create a manifest for it."""

    def seal(self, seen: Observation, decision: Decision) -> Steps[bool]:
        self.base = decision.base
        yield from self.discard()
        return (yield from super().seal(seen, decision))


class TakesLateErrorsForEarly(Workflow):
    """Treats an error of the store just after the commit point like one before it, and aborts the handles."""

    def decide_epoch(self, manifest: Manifest) -> Steps[None]:
        yield from super().decide_epoch(manifest)
        yield from self.fence()


class IgnoresOthersEntries(Workflow):
    """Treats any entry with its number as its own."""

    def decide_epoch(self, manifest: Manifest) -> Steps[None]:
        yield do.Reach("manifest.pre")
        yield from create(names.entry_name(manifest.epoch), manifest, "manifest.torn")
        yield do.Reach("manifest.post")
        self.base = self.unfinished = manifest
        self.epoch = manifest.epoch + 1

    def fence(self) -> Steps[None]:
        return
        yield


class ForgetsToGiveBack(DriverSteps):
    """Loses the handles of a checkpoint whose manifest could not be written."""

    def _conclude(self, progress: Any, *arguments: Any, **options: Any) -> Steps[Manifest | None]:
        with patch.object(progress, "give_back", lambda handles: None):
            return (yield from super()._conclude(progress, *arguments, **options))


class GivesBackTooMuch(DriverSteps):
    """Takes handles back although nobody knows whether the manifest that lists them was written."""

    def _conclude(self, progress: Any, *arguments: Any, **options: Any) -> Steps[Manifest | None]:
        taken: list[Committable] = []
        take = progress.take_handles

        def remember() -> list[Committable]:
            taken.extend(take())
            return list(taken)

        with patch.object(progress, "take_handles", remember):
            try:
                return (yield from super()._conclude(progress, *arguments, **options))
            except CheckpointError:
                progress.give_back(taken)
                raise


class RemovesUnfenced(DriverSteps):
    """Removes the checkpoints of a job that another driver may have."""

    def remove(self, named: bool) -> Steps[None]:
        yield do.RemoveAll()


class IgnoresDeclines(DriverSteps):
    """Lists state files that a task could not write."""

    def complete(self, progress: Any, acks: list[TaskAck]) -> Steps[Manifest | None]:
        return (yield from super().complete(progress, [replace(ack, declined=None) for ack in acks]))


class RecoversWithoutReplay(DriverSteps):
    """Continues from a manifest without committing what it lists."""

    def recover(self) -> Steps[Manifest | None]:
        with patch.object(self, "_commit", nothing):
            return (yield from super().recover())


class TriesToCommitOnce(DriverSteps):
    """Treats a checkpoint as complete although a commit has failed."""

    def _commit(self) -> Steps[None]:
        try:
            yield from super()._commit()
        except SinkDownError:
            self.workflow.unfinished = None


class TidiesWithoutBase(DriverSteps):
    """Collects garbage although its recovery was refused: all files look dead."""

    def tidy(self) -> Steps[None]:
        yield from self._collect()


def nothing() -> Steps[None]:
    return
    yield


MUTANTS: dict[str, dict[str, Any]] = {
    **{
        cls.__name__: {"workflow": cls}
        for cls in (
            NoFencing,
            NoSeal,
            NoFenceAfterManifest,
            MarkerBeforeCommits,
            CommitBeforeManifest,
            CollectsLiveFiles,
            CollectsOthersFiles,
            FallsBack,
            NoReplay,
            DiscardsBeforeSeal,
            TakesLateErrorsForEarly,
            IgnoresOthersEntries,
        )
    },
    **{
        cls.__name__: {"checkpoints": cls}
        for cls in (
            ForgetsToGiveBack,
            GivesBackTooMuch,
            RemovesUnfenced,
            IgnoresDeclines,
            RecoversWithoutReplay,
            TriesToCommitOnce,
            TidiesWithoutBase,
        )
    },
    "NoSettle": {"deaf_to": (do.Settle,)},
    "ForgetfulSink": {"sink": ForgetfulSink},
}
