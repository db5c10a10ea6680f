"""From what was seen in a store to the situation of the job: which of five, and on which manifest it stands.

Pure. Called by the recovery (`headrace.checkpoint.workflow`) with a fresh `Observation`. What to do about the situation
is decided by `headrace.checkpoint.resolve`.

How the base is found:

1. A generation above one's own, in a claim or in a slot, means: FENCED.
2. The highest slot that is filled tells where the history goes on: a manifest is itself the base, a seal names its parent.
3. No slot, or a seal without parent: EMPTY. A marker above the highest slot shows that a slot got lost: DAMAGED.
4. The base cannot be read, or is not there: DAMAGED.
5. With a readable marker the base is FINISHED, else UNFINISHED.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from headrace.checkpoint.model import Damaged, Manifest, Marker, Observation, Seal
from headrace.checkpoint.names import slot_name

__all__ = ["Base", "Derived", "Situation", "derive", "with_bad_file"]


class Situation(Enum):
    """What the store says about the job."""

    EMPTY = "no manifest"
    FENCED = "a later generation has been claimed"
    UNFINISHED = "manifest without marker"
    FINISHED = "manifest with marker"
    DAMAGED = "the manifest, or a file that it lists, cannot be used"


@dataclass(frozen=True)
class Base:
    """Where a job can go on: after a manifest, or at the beginning. `finished`: there is nothing left to commit."""

    manifest: Manifest | None
    finished: bool = True


@dataclass(frozen=True)
class Derived:
    """The situation with its evidence.

    `epoch` is the number of the base, readable or not (0: none). `fallback` is the only older place that could be gone
    back to. `marked`: there is a marker for the base, readable or not, so its output may be visible.
    """

    situation: Situation
    epoch: int = 0
    base: Manifest | None = None
    fallback: Base | None = None
    marked: bool = False
    begun: bool = False
    """Work beyond the base was planned."""
    newer: int = 0
    damage: Damaged | None = None


def derive(seen: Observation, generation: int) -> Derived:
    """Give the situation for the driver of this generation.

    >>> derive(Observation(), 1).situation
    <Situation.EMPTY: 'no manifest'>
    >>> derive(Observation(generations=(1, 2)), 1).situation.name
    'FENCED'
    >>> seen = Observation((1,), {1: Manifest("job", 1, 1, "a", None)})
    >>> derive(seen, 1).situation.name
    'UNFINISHED'
    """
    in_slots = max((r.generation for r in seen.slots.values() if not isinstance(r, Damaged)), default=0)
    newer = max(seen.newest_generation, in_slots)
    if newer > generation:  # 1
        return Derived(Situation.FENCED, newer=newer)
    last = seen.last_slot  # 2
    if max(seen.markers, default=0) > last:  # 3
        lost = max(seen.markers)
        missing = Damaged(slot_name(lost), "it is missing, but its epoch has a marker")
        return Derived(Situation.DAMAGED, lost, marked=True, damage=missing)
    top = seen.slots.get(last)
    epoch = top.parent if isinstance(top, Seal) else last
    begun = max(seen.planned, default=0) > (epoch or 0)
    if not epoch:
        return Derived(Situation.EMPTY, begun=begun)
    base = seen.slots.get(epoch)
    marker = seen.markers.get(epoch)
    if not isinstance(base, Manifest):  # 4
        damage = base if isinstance(base, Damaged) else Damaged(slot_name(epoch), "there is no manifest in it")
        return Derived(
            Situation.DAMAGED,
            epoch,
            fallback=_before(seen, epoch),
            marked=marker is not None,
            begun=begun,
            damage=damage,
        )
    situation = Situation.FINISHED if isinstance(marker, Marker) else Situation.UNFINISHED  # 5
    fallback = _after(seen, base.parent)
    return Derived(situation, epoch, base, fallback, marker is not None, begun)


def with_bad_file(derived: Derived, damage: Damaged) -> Derived:
    """Give the situation when a file that the base lists has turned out to be unusable.

    >>> finished = Derived(Situation.FINISHED, 3)
    >>> with_bad_file(finished, Damaged("state/x", "it is missing")).situation.name
    'DAMAGED'
    """
    return replace(derived, situation=Situation.DAMAGED, damage=damage)


def _before(seen: Observation, epoch: int) -> Base | None:
    """What an unreadable manifest must have followed: slots have no gaps, so its predecessor tells."""
    if epoch == 1:
        return Base(None)
    before = seen.slots.get(epoch - 1)
    if isinstance(before, Seal):
        return _after(seen, before.parent)
    return _after(seen, epoch - 1)


def _after(seen: Observation, epoch: int | None) -> Base | None:
    if epoch is None:
        return Base(None)
    manifest = seen.slots.get(epoch)
    if not isinstance(manifest, Manifest):
        return None
    return Base(manifest, isinstance(seen.markers.get(epoch), Marker))
