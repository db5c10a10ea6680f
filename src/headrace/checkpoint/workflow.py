"""The checkpoint protocol: who writes what, in which order. A sequence of instructions that others perform.

An epoch, with the numbers of `docs/internals/checkpoint-protocol.md`; the driver does everything but 3:

1. Claim a generation; recover (`headrace.checkpoint.recovery`). Once for each start of the job.
2. Write the plan of epoch e.
3. Tasks write their state files and prepare the output of their sinks. Names are unique for each attempt.
4. The driver has all acknowledgements.
5. Create the manifest as entry e of the log, if there is none: **the commit point**. Then check for a later generation
   once more: an entry that was collected long ago looks free to a driver that was suspended.
6. Commit each handle. Idempotent.
7. Write the marker.
8. Publish.
9. Collect garbage.

Steps 5 to 9 of two epochs never overlap. The crash model (tests/protocol) tests each step by stopping there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headrace.checkpoint import instructions as do
from headrace.checkpoint import names
from headrace.checkpoint.errors import CheckpointError, CheckpointFailureReason, DamagedRecordError, FencedError
from headrace.checkpoint.gc import Garbage, classify
from headrace.checkpoint.model import Committable, FileEntry, Manifest, Marker, Observation, Plan
from headrace.checkpoint.recovery import Recovery
from headrace.checkpoint.steps import Steps, create, observe, same_record


class Workflow(Recovery):
    """The protocol of one driver: `take_over`, then `plan`, `decide_epoch`, `finish` and `collect` for each epoch.

    A driver knows no more than `generation`, `base` (the manifest that the job continues from) and `epoch` (the number of
    the next one). `attempt` must be unique among all drivers of all times.
    """

    def __init__(self, job_id: str, attempt: str, retained: int = 1) -> None:
        super().__init__(job_id, attempt)
        self._retained = retained
        self._tries = 0

    def plan(self, parallelism: Mapping[str, int] | None = None) -> Steps[Plan]:
        """Perform step 2: record what the next epoch is about to do."""
        assert self.unfinished is None, "the last epoch's commits come first"
        self._tries += 1
        plan = Plan(
            self.job_id,
            self.generation,
            self.epoch,
            f"{self.attempt}.{self._tries}",
            self.base.epoch if self.base else None,
            parallelism or {},
        )
        yield do.Reach("plan.pre")
        yield from self.fence()
        yield from create(names.plan_name(plan.epoch, plan.generation, plan.attempt), plan, "plan.torn")
        yield do.Reach("plan.post")
        return plan

    def manifest(
        self,
        plan: Plan,
        files: Sequence[FileEntry],
        committables: Sequence[Committable],
        positions: Mapping[str, Any],
        watermarks: Mapping[str, int] | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> Manifest:
        """Return the manifest of a planned epoch; no effect."""
        return Manifest(
            self.job_id,
            self.generation,
            plan.epoch,
            plan.attempt,
            plan.parent,
            tuple(files),
            tuple(committables),
            positions,
            watermarks or {},
            plan.parallelism,
            facts or {},
        )

    def decide_epoch(self, manifest: Manifest) -> Steps[None]:
        """Perform the first half of step 5. A `StoreError` means that there is no manifest; nothing else may raise one."""
        assert manifest.epoch == self.epoch, "a manifest gets the next number"
        yield do.Reach("manifest.pre")
        try:
            there = yield from create(names.entry_name(manifest.epoch), manifest, "manifest.torn")
        except DamagedRecordError as error:
            raise CheckpointError(CheckpointFailureReason.MANIFEST_DAMAGED, seen=error.message) from error
        yield do.Reach("manifest.post")
        if not same_record(there, manifest):
            raise FencedError(self.generation, there.generation)
        self.base = self.unfinished = manifest
        self.epoch = manifest.epoch + 1

    def finish(self) -> Steps[None]:
        """Perform the second half of step 5 and steps 6 to 8 for the base; may be repeated."""
        manifest = self.unfinished
        assert manifest is not None, "there is nothing to finish"
        yield from self.fence()
        yield from self.commit_all(manifest)
        yield from self.mark(manifest)
        self.unfinished = None
        yield do.Reach("publish.pre")
        yield do.Publish(manifest)
        yield do.Reach("publish.post")

    def commit_all(self, manifest: Manifest) -> Steps[None]:
        """Perform step 6."""
        yield do.Reach("commit.pre")
        for number, committable in enumerate(manifest.committables):
            if number:
                yield do.Reach("commit.between")
            yield do.Commit(committable)
        yield do.Reach("commit.post")

    def mark(self, manifest: Manifest) -> Steps[None]:
        """Perform step 7. An existing marker says the same; replace a damaged one: the commits were replayed."""
        marker = Marker(self.job_id, self.generation, manifest.epoch, self.attempt)
        name = names.marker_name(manifest.epoch)
        yield do.Reach("marker.pre")
        try:
            yield from create(name, marker, "marker.torn")
        except DamagedRecordError:
            yield do.Delete(name)
            yield from create(name, marker, "marker.torn")
        yield do.Reach("marker.post")

    def collect(self) -> Steps[Garbage]:
        """Perform step 9: classify everything, then delete, oldest first."""
        yield do.Reach("gc.pre")
        seen = yield from observe(settle=False)
        listed: list[str] = []
        for folder in names.FOLDERS:
            listed += yield do.ListNames(folder)
        staged: Sequence[Committable] = yield do.ListStaged()
        garbage = self.classify(seen, listed, staged)
        yield from self.fence()
        for number, name in enumerate(garbage.names):
            if number:
                yield do.Reach("gc.between")
            yield do.Delete(name)
        for handle in garbage.handles:
            yield do.Abort(handle)
        yield do.Reach("gc.post")
        return garbage

    def classify(self, seen: Observation, listed: Sequence[str], staged: Sequence[Committable]) -> Garbage:
        """Return what step 9 deletes."""
        return classify(seen, listed, staged, self.base, self.generation, self._retained)
