"""Decides what the driver of a job does in each situation: one of five verdicts. Pure.

Called by the recovery (`headrace.checkpoint.recovery`) after `derive`. The table:

| situation | further facts | result |
| --- | --- | --- |
| FENCED | | STOP: this driver is the zombie |
| EMPTY | | REDO from the beginning |
| UNFINISHED | | REPLAY the commits, write the marker |
| FINISHED | nothing was planned beyond | GO_ON |
| FINISHED | work beyond was planned | REDO that work on the base |
| DAMAGED | no marker, every sink says that the epoch is untouched, the epoch before is intact | as if the epoch were sealed |
| DAMAGED | otherwise | FAIL_CLOSED with a named reason |

So a job goes back automatically only if nobody can have seen anything of the newer epoch. Everything else is the user's
decision: they restore another checkpoint or a savepoint.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from headrace.checkpoint.derive import Derived, Situation
from headrace.checkpoint.errors import CheckpointFailureReason
from headrace.checkpoint.model import Damaged, Manifest
from headrace.checkpoint.names import LOG


class Verdict(Enum):
    """What a driver does."""

    REDO = "discard what was staged and do the work again"
    STOP = "stop: another driver has the job"
    REPLAY = "commit what the manifest lists, then write the marker"
    GO_ON = "continue after the manifest"
    FAIL_CLOSED = "fail with a reason and change nothing"


@dataclass(frozen=True)
class Decision:
    """A verdict, the manifest to continue from (None: the beginning), and the evidence.

    `withdraw` is an epoch whose handles must all be aborted first, because the job goes back before it.
    """

    verdict: Verdict
    base: Manifest | None = None
    withdraw: int | None = None
    newer: int = 0
    reason: CheckpointFailureReason | None = None
    damage: Damaged | None = None


def asks_sinks(derived: Derived) -> bool:
    """Return whether the decision depends on the sinks confirming that the epoch is untouched.

    >>> asks_sinks(Derived(Situation.FINISHED, 3))
    False
    """
    return derived.situation is Situation.DAMAGED and not derived.marked and derived.fallback is not None


def resolve(derived: Derived, untouched: bool = False, fallback_damage: Damaged | None = None) -> Decision:
    """Return the decision. `untouched` and `fallback_damage` matter if `asks_sinks`.

    >>> resolve(Derived(Situation.EMPTY)).verdict.name
    'REDO'
    >>> resolve(Derived(Situation.FENCED, newer=4)).verdict.name
    'STOP'
    >>> damaged = Derived(Situation.DAMAGED, 3, marked=True, damage=Damaged("slots/0000000003", "it is torn"))
    >>> resolve(damaged, untouched=True).reason.name
    'MANIFEST_DAMAGED'
    """
    match derived.situation:
        case Situation.FENCED:
            return Decision(Verdict.STOP, newer=derived.newer, reason=CheckpointFailureReason.FENCED)
        case Situation.EMPTY:
            return Decision(Verdict.REDO)
        case Situation.UNFINISHED:
            return Decision(Verdict.REPLAY, derived.base)
        case Situation.FINISHED:
            return Decision(Verdict.REDO if derived.begun else Verdict.GO_ON, derived.base)
        case Situation.DAMAGED:
            if asks_sinks(derived) and untouched and fallback_damage is None and derived.fallback is not None:
                older = derived.fallback
                verdict = Verdict.REDO if older.finished else Verdict.REPLAY
                return Decision(verdict, older.manifest, withdraw=derived.epoch, damage=derived.damage)
            return _closed(derived)


def _closed(derived: Derived) -> Decision:
    damage = derived.damage
    of_log = damage is None or damage.name.startswith(LOG)
    reason = CheckpointFailureReason.MANIFEST_DAMAGED if of_log else CheckpointFailureReason.STATE_FILE_DAMAGED
    return Decision(Verdict.FAIL_CLOSED, reason=reason, damage=damage)
