"""Garbage collection: decides what nobody needs any more in a store and in the sinks. Pure; the workflow deletes.

Everything is classified first, then deleted in an order that is safe to interrupt anywhere:

1. The retained manifests (the base and its parents, as many as configured) and the files that they list are live.
2. Whatever belongs to a later generation, or to an epoch of this generation after the base, is in progress: kept.
3. A name that cannot be parsed is not ours: kept.
4. Everything else is dead. Oldest epochs go first; within an epoch the log entry goes before its marker and files, so that
   nobody ever sees a manifest without its files.

Dead stays dead: names are never reused, and a job never goes back before a base with a marker. So a driver that was
replaced while it deleted, and continues later, does no harm.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from headrace.checkpoint import names
from headrace.checkpoint.model import Committable, Manifest, Observation
from headrace.connectors.base.sink_committer import Handle


@dataclass(frozen=True)
class Garbage:
    """Names to delete, in this order, and handles to abort; `kept` are names of others."""

    names: tuple[str, ...] = ()
    handles: tuple[Committable, ...] = ()
    kept: tuple[str, ...] = field(default=())


def retained_manifests(seen: Observation, base: Manifest | None, retained: int) -> list[Manifest]:
    """Return the base and its parents, newest first, at most `retained`.

    >>> one, two = (Manifest("job", 1, e, "a", e - 1 or None) for e in (1, 2))
    >>> [m.epoch for m in retained_manifests(Observation((1,), {1: one, 2: two}), two, 5)]
    [2, 1]
    """
    chain: list[Manifest] = []
    while base is not None and len(chain) < max(1, retained):
        chain.append(base)
        parent = seen.log.get(base.parent) if base.parent is not None else None
        base = parent if isinstance(parent, Manifest) else None
    return chain


def leftover_handles(staged: Iterable[Committable], base: Manifest | None, generation: int) -> list[Committable]:
    """Return the prepared handles that no manifest will ever commit.

    >>> old = Committable("sink", Handle("x", subtask=0, checkpoint=4, generation=1))
    >>> leftover_handles([old], None, 2) == [old], leftover_handles([old], None, 1)
    (True, [])
    """
    listed = {c.handle.id for c in base.committables} if base is not None else set()
    decided = base.epoch if base is not None else 0

    def is_dead(handle: Handle) -> bool:
        older = handle.generation < generation or (handle.generation == generation and handle.checkpoint <= decided)
        return older and handle.id not in listed

    return [c for c in staged if is_dead(c.handle)]


def classify(
    seen: Observation,
    listed: Sequence[str],
    staged: Sequence[Committable],
    base: Manifest | None,
    generation: int,
    retained: int = 1,
) -> Garbage:
    """Return everything that is dead for the driver of this generation, whose base has its marker.

    `listed` are all names in the store.

    >>> base = Manifest("job", 2, 4, "a", 3)
    >>> found = ["generations/0000000001", "generations/0000000002", "slots/0000000003", "slots/0000000004"]
    >>> classify(Observation((1, 2), {4: base}), found, [], base, 2).names
    ('slots/0000000003', 'generations/0000000001')
    """
    chain = retained_manifests(seen, base, retained)
    epochs = {m.epoch for m in chain}
    files = {names.FILES + f.name for m in chain for f in m.files}  # 1
    decided = base.epoch if base is not None else 0
    dead: list[tuple[int, int, str]] = []
    kept: list[str] = []
    for name in listed:
        age = age_of(name)
        if age is None:  # 3
            kept.append(name)
            continue
        order, epoch, of = age
        if order in (_ENTRY, _MARKER):
            is_dead = epoch < decided and epoch not in epochs
        elif order == _GENERATION:
            is_dead = of < generation
        elif order == _TEMPORARY:  # its own too: a driver writes one record at a time, and none now
            is_dead = of <= generation
        else:  # 1, 2
            is_dead = name not in files and (of < generation or (of == generation and epoch <= decided))
        if is_dead:
            dead.append((epoch, order, name))
    ordered = tuple(name for _, _, name in sorted(dead))  # 4
    return Garbage(ordered, tuple(leftover_handles(staged, base, generation)), tuple(kept))


_ENTRY, _MARKER, _PLAN, _FILE, _TEMPORARY, _GENERATION = range(6)
_LAST = 1 << 62


def age_of(name: str) -> tuple[int, int, int] | None:
    """Return (kind, epoch, generation) of a name; None if it is not one of the protocol's.

    Names without an epoch sort last; log entries and markers need no generation.
    """
    if name.startswith((names.LOG, names.MARKERS)):
        number = names.number_of(name)
        return None if number is None else (_ENTRY if name.startswith(names.LOG) else _MARKER, number, 0)
    if name.startswith(names.GENERATIONS):
        number = names.number_of(name)
        return None if number is None else (_GENERATION, _LAST, number)
    if name.startswith(names.TEMPORARIES):
        generation = names.temporary_generation(name)
        return None if generation is None else (_TEMPORARY, _LAST, generation)
    pair = names.plan_age(name) if name.startswith(names.PLANS) else names.file_age(name)
    kind = _PLAN if name.startswith(names.PLANS) else _FILE
    return None if pair is None else (kind, *pair)
