"""Step 1 of the protocol: a driver takes a job over, whatever the one before it left behind.

1. Claim the generation after the highest one, if nobody else just did.
2. Look at the store; `derive` the situation; check the files of the base; `resolve`.
3. Where the decision goes back behind an epoch that nobody has seen: abort all its handles, so that nobody ever will.
4. **Seal** the first free slot. From now on no older driver can create a manifest there, nor anywhere: each works on the
   first slot that was free when it looked. If somebody was faster, start again at 2. Then look for a later generation.
5. Stand on the base; its commits are replayed by the workflow unless it has a marker.
6. Discard: abort handles that older generations have prepared and no manifest lists. Only now is that safe.

The number of the sealed slot is used up: the work of the lost epoch is done again under the next number. The first
generation of a job has nobody to fence and seals nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from headrace.checkpoint import instructions as do
from headrace.checkpoint import names
from headrace.checkpoint.derive import Derived, Situation, derive, with_bad_file
from headrace.checkpoint.errors import CheckpointError, DamagedRecordError, FencedError, RestoreRefusedError
from headrace.checkpoint.failure_reasons import CheckpointFailureReason
from headrace.checkpoint.gc import leftover_handles
from headrace.checkpoint.model import Committable, Generation, Manifest, Observation, Seal
from headrace.checkpoint.resolve import Decision, Verdict, asks_sinks, resolve
from headrace.checkpoint.steps import Steps, create, first_bad_file, newest_generation, observe, same_record

__all__ = ["Recovery"]

_ROUNDS = 1000


class Recovery:
    """What a driver knows of its job, and how it comes to know it. Base of `Workflow`."""

    def __init__(self, job_id: str, attempt: str) -> None:
        self.job_id = job_id
        self.attempt = attempt
        self.generation = 0
        self.epoch = 0
        """The slot of the next manifest."""
        self.base: Manifest | None = None
        self.unfinished: Manifest | None = None
        """The base, as long as it may have handles that are not committed."""

    def take_over(self) -> Steps[Decision]:
        """Numbers 1 to 5. Raises `FencedError`, or `RestoreRefusedError` with a named reason."""
        yield from self.claim()  # 1
        for _ in range(_ROUNDS):
            seen = yield from observe()  # 2
            derived, decision = yield from self.decide(seen)
            if decision.verdict is Verdict.STOP:
                raise FencedError(self.generation, decision.newer)
            if decision.verdict is Verdict.FAIL_CLOSED:
                raise _refusal(decision)
            if decision.withdraw is not None:  # 3
                yield from self._withdraw(derived, decision)
            if (yield from self.seal(seen, decision)):  # 4
                self.base = decision.base  # 5
                self.unfinished = decision.base if decision.verdict is Verdict.REPLAY else None
                return decision
        raise CheckpointError(CheckpointFailureReason.TRIGGER_CHECKPOINT_FAILURE, "Slots were filled again and again")

    def claim(self) -> Steps[None]:
        """Number 1."""
        yield do.Reach("gen.claim.pre")
        while True:
            number = (yield from newest_generation()) + 1
            claim = Generation(self.job_id, number, self.attempt)
            try:
                there = yield from create(names.generation_name(number), claim)
            except DamagedRecordError:
                continue  # a claim of somebody else, even so
            if same_record(there, claim):
                break
        self.generation = number
        yield do.Reach("gen.claim.post")

    def decide(self, seen: Observation) -> Steps[tuple[Derived, Decision]]:
        """Number 2: ask for the facts that a decision needs, and take it."""
        derived = derive(seen, self.generation)
        if derived.base is not None and derived.situation is not Situation.FENCED:
            bad = yield from first_bad_file(derived.base.files)
            if bad is not None:
                derived = with_bad_file(derived, bad)
        if not asks_sinks(derived):
            return derived, resolve(derived)
        untouched: bool = yield do.Untouched(derived.epoch)
        older = derived.fallback.manifest if derived.fallback is not None else None
        bad = None if older is None else (yield from first_bad_file(older.files))
        return derived, resolve(derived, untouched, bad)

    def seal(self, seen: Observation, decision: Decision) -> Steps[bool]:
        """Number 4; False: somebody was faster, look again."""
        slot = seen.last_slot + 1
        if self.generation > 1 or seen.slots:
            parent = decision.base.epoch if decision.base is not None else None
            seal = Seal(self.job_id, self.generation, slot, self.attempt, parent)
            try:
                there = yield from create(names.slot_name(slot), seal)
            except DamagedRecordError:
                return False
            if not same_record(there, seal):
                return False
            slot += 1
        yield from self.fence()
        self.epoch = slot
        return True

    def discard(self) -> Steps[None]:
        """Number 6."""
        staged: Sequence[Committable] = yield do.ListStaged()
        for handle in leftover_handles(staged, self.base, self.generation):
            yield do.Abort(handle)

    def fence(self) -> Steps[None]:
        """Raise `FencedError` if a later generation has been claimed."""
        newest = yield from newest_generation()
        if newest > self.generation:
            raise FencedError(self.generation, newest)

    def _withdraw(self, derived: Derived, decision: Decision) -> Steps[None]:
        """Number 3. A handle that turns out to be committed ends it: then the job must not go back."""
        yield from self.fence()
        staged: Sequence[Committable] = yield do.ListStaged()
        handles = {c.handle.id: c for c in staged if c.handle.checkpoint == derived.epoch}
        handles |= {c.handle.id: c for c in (derived.base.committables if derived.base is not None else ())}
        for handle in handles.values():
            if not (yield do.Abort(handle)):
                raise _refusal(resolve(derived, untouched=False))


def _refusal(decision: Decision) -> RestoreRefusedError:
    assert decision.reason is not None, "a refusal names its reason"
    damage = decision.damage
    return RestoreRefusedError(
        decision.reason,
        seen=None if damage is None else f"{damage.name}: {damage.reason}",
        remedy="restore another checkpoint or a savepoint by hand; if output of later epochs has been seen,"
        " say that duplicates are accepted.",
    )
