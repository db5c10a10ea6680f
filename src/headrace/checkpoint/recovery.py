"""Step 1 of the protocol: a driver takes a job over, whatever its predecessor left behind.

1. Claim the generation after the highest one, unless another driver just did.
2. Read the store; `derive` the situation; check the files of the base; `resolve`.
3. If the decision goes back before an epoch that nobody has seen: abort all its handles, so that nobody ever will.
4. **Seal** the first epoch without an entry in the log. From now on no older driver can create a manifest for it, nor for
   any other: each works on the first epoch that was free when it looked. If another driver created the entry first, start
   again at 2. Then check for a later generation.
5. Continue from the base; the workflow replays its commits unless it has a marker.
6. Discard: abort handles that older generations have prepared and no manifest lists. Only now is that safe.

The sealed epoch is used up: the lost work is redone under the next number. The first generation of a job has nobody to
fence and seals nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from headrace.checkpoint import errors, names
from headrace.checkpoint import instructions as do
from headrace.checkpoint.derive import Derived, Situation, derive, with_bad_file
from headrace.checkpoint.gc import leftover_handles
from headrace.checkpoint.model import Committable, Generation, Manifest, Observation, Seal
from headrace.checkpoint.resolve import Decision, Verdict, asks_sinks, resolve
from headrace.checkpoint.steps import Steps, create, first_bad_file, newest_generation, observe, same_record

_ROUNDS = 1000


class Recovery:
    """What a driver knows of its job, and how it gets to know it. Base of `Workflow`."""

    def __init__(self, job_id: str, attempt: str) -> None:
        self.job_id = job_id
        self.attempt = attempt
        self.generation = 0
        self.epoch = 0
        """The number of the next manifest."""
        self.base: Manifest | None = None
        self.unfinished: Manifest | None = None
        """The base, while some of its handles may not be committed."""

    def take_over(self) -> Steps[Decision]:
        """Perform 1 to 5. Raise `FencedError`, or `RestoreRefusedError` with a named reason."""
        yield from self.claim()  # 1
        for _ in range(_ROUNDS):
            seen = yield from observe()  # 2
            derived, decision = yield from self.decide(seen)
            if decision.verdict is Verdict.STOP:
                raise errors.FencedError(self.generation, decision.newer)
            if decision.verdict is Verdict.FAIL_CLOSED:
                raise _refusal(decision)
            if decision.withdraw is not None:  # 3
                yield from self._withdraw(derived, decision)
            if (yield from self.seal(seen, decision)):  # 4
                self.base = decision.base  # 5
                self.unfinished = decision.base if decision.verdict is Verdict.REPLAY else None
                return decision
        raise errors.CheckpointError(
            errors.CheckpointFailureReason.TRIGGER_CHECKPOINT_FAILURE, "Other drivers kept taking the next epoch"
        )

    def claim(self) -> Steps[None]:
        """Perform 1."""
        yield do.Reach("gen.claim.pre")
        while True:
            number = (yield from newest_generation()) + 1
            claim = Generation(self.job_id, number, self.attempt)
            try:
                there = yield from create(names.generation_name(number), claim)
            except errors.DamagedRecordError:
                continue  # damaged, but still another driver's claim
            if same_record(there, claim):
                break
        self.generation = number
        yield do.Reach("gen.claim.post")

    def decide(self, seen: Observation) -> Steps[tuple[Derived, Decision]]:
        """Perform 2: ask for the facts that a decision needs, and decide."""
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
        """Perform 4; return False if another driver was faster."""
        epoch = seen.last_epoch + 1
        if self.generation > 1 or seen.log:
            parent = decision.base.epoch if decision.base is not None else None
            seal = Seal(self.job_id, self.generation, epoch, self.attempt, parent)
            try:
                there = yield from create(names.entry_name(epoch), seal)
            except errors.DamagedRecordError:
                return False
            if not same_record(there, seal):
                return False
            epoch += 1
        yield from self.fence()
        self.epoch = epoch
        return True

    def discard(self) -> Steps[None]:
        """Perform 6."""
        staged: Sequence[Committable] = yield do.ListStaged()
        for handle in leftover_handles(staged, self.base, self.generation):
            yield do.Abort(handle)

    def fence(self) -> Steps[None]:
        """Raise `FencedError` if a later generation has been claimed."""
        newest = yield from newest_generation()
        if newest > self.generation:
            raise errors.FencedError(self.generation, newest)

    def _withdraw(self, derived: Derived, decision: Decision) -> Steps[None]:
        """Perform 3. If a handle turns out to be committed, fail: then the job must not go back."""
        yield from self.fence()
        staged: Sequence[Committable] = yield do.ListStaged()
        handles = {c.handle.id: c for c in staged if c.handle.checkpoint == derived.epoch}
        handles |= {c.handle.id: c for c in (derived.base.committables if derived.base is not None else ())}
        for handle in handles.values():
            if not (yield do.Abort(handle)):
                raise _refusal(resolve(derived, untouched=False))


def _refusal(decision: Decision) -> errors.RestoreRefusedError:
    assert decision.reason is not None, "a refusal names its reason"
    damage = decision.damage
    return errors.RestoreRefusedError(
        decision.reason,
        seen=None if damage is None else f"{damage.name}: {damage.reason}",
        remedy="restore another checkpoint or a savepoint; output that was committed after it is written again.",
    )
