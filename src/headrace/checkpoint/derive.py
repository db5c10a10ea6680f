"""Derives the situation of a job from what was seen in its store: one of five, and the manifest that is its base.

Pure. Called by the recovery (`headrace.checkpoint.recovery`) with a fresh `Observation`. `headrace.checkpoint.resolve`
decides what to do about the situation.

How the base is found:

1. A generation above the driver's own, in a claim or in the log: FENCED.
2. The last entry of the log tells where the job continues: a manifest is itself the base, a seal names its parent.
3. An empty log, or a seal without parent: EMPTY. A marker above the last entry shows that an entry was lost: DAMAGED.
4. The base is missing or cannot be read: DAMAGED.
5. With a readable marker the base is FINISHED, otherwise UNFINISHED.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from headrace.checkpoint.model import Damaged, Manifest, Marker, Observation, Seal
from headrace.checkpoint.names import entry_name


class Situation(Enum):
    """The situation of a job."""

    EMPTY = "no manifest"
    FENCED = "a later generation has been claimed"
    UNFINISHED = "manifest without marker"
    FINISHED = "manifest with marker"
    DAMAGED = "the manifest, or a file that it lists, cannot be used"


@dataclass(frozen=True)
class Base:
    """Where a job can continue: after a manifest, or at the beginning. `finished`: nothing is left to commit."""

    manifest: Manifest | None
    finished: bool = True


@dataclass(frozen=True)
class Derived:
    """The situation with its evidence.

    `epoch` is that of the base, readable or not (0: none). `fallback` is the only older place to go back to. `marked`:
    the base has a marker, readable or not, so its output may be visible.
    """

    situation: Situation
    epoch: int = 0
    base: Manifest | None = None
    fallback: Base | None = None
    marked: bool = False
    begun: bool = False
    """Whether work beyond the base was planned."""
    newer: int = 0
    damage: Damaged | None = None


def derive(seen: Observation, generation: int) -> Derived:
    """Return the situation for the driver of this generation.

    >>> derive(Observation(), 1).situation
    <Situation.EMPTY: 'no manifest'>
    >>> derive(Observation(generations=(1, 2)), 1).situation.name
    'FENCED'
    >>> seen = Observation((1,), {1: Manifest("job", 1, 1, "a", None)})
    >>> derive(seen, 1).situation.name
    'UNFINISHED'
    """
    in_log = max((r.generation for r in seen.log.values() if not isinstance(r, Damaged)), default=0)
    newer = max(seen.newest_generation, in_log)
    if newer > generation:  # 1
        return Derived(Situation.FENCED, newer=newer)
    last = seen.last_epoch  # 2
    if max(seen.markers, default=0) > last:  # 3
        lost = max(seen.markers)
        missing = Damaged(entry_name(lost), "it is missing, but its epoch has a marker")
        return Derived(Situation.DAMAGED, lost, marked=True, damage=missing)
    top = seen.log.get(last)
    epoch = top.parent if isinstance(top, Seal) else last
    begun = max(seen.planned, default=0) > (epoch or 0)
    if not epoch:
        return Derived(Situation.EMPTY, begun=begun)
    base = seen.log.get(epoch)
    marker = seen.markers.get(epoch)
    if not isinstance(base, Manifest):  # 4
        damage = base if isinstance(base, Damaged) else Damaged(entry_name(epoch), "it is not a manifest")
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
    """Return the situation after a file that the base lists has turned out to be unusable.

    >>> finished = Derived(Situation.FINISHED, 3)
    >>> with_bad_file(finished, Damaged("state/x", "it is missing")).situation.name
    'DAMAGED'
    """
    return replace(derived, situation=Situation.DAMAGED, damage=damage)


def _before(seen: Observation, epoch: int) -> Base | None:
    """Return what an unreadable manifest must have followed: the log has no gaps, so the entry before it tells."""
    if epoch == 1:
        return Base(None)
    before = seen.log.get(epoch - 1)
    if isinstance(before, Seal):
        return _after(seen, before.parent)
    return _after(seen, epoch - 1)


def _after(seen: Observation, epoch: int | None) -> Base | None:
    if epoch is None:
        return Base(None)
    manifest = seen.log.get(epoch)
    if not isinstance(manifest, Manifest):
        return None
    return Base(manifest, isinstance(seen.markers.get(epoch), Marker))
