"""Choose the slot process of an executor for a task: the one with the fewest tasks. The task then stays there.

Spark decides which executor runs a partition, so a partition number does not tell which others run beside it. The couriers
of an executor therefore share a folder of empty files `<level>-<partition>-<slot>`. The time of a file is the epoch in which
the task was last here: a task that was absent in the previous epoch has ended or moved away, and no longer counts.

A wrong choice costs speed, never data: a task whose slot does not have the wanted version is rebuilt from its files.
Light: couriers import this module.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

_FOLDER = "slot-tasks"
_LOCK = "slot-tasks.lock"


class Resident(NamedTuple):
    """A task that lives in a slot of this executor, and the epoch in which it was last here."""

    level: int
    partition: int
    slot: int
    epoch: int


class Place(NamedTuple):
    """The slot of a task, and how many tasks of its level live there, including itself."""

    slot: int
    tasks: int


def choose(residents: Iterable[Resident], slots: int, level: int, partition: int, epoch: int) -> int:
    """Return the slot for a new task: the one with the fewest tasks of its level, then with the fewest of all.

    Tasks of one level run at the same time, those of different levels one after another.

    >>> choose([], slots=2, level=0, partition=2, epoch=1)
    0
    >>> choose([Resident(0, 0, 0, 1)], slots=2, level=0, partition=2, epoch=1)
    1
    >>> choose([Resident(0, 0, 0, 1)], slots=2, level=0, partition=2, epoch=3)  # that one is gone
    0
    """
    present = _present(residents, epoch)

    def load(slot: int) -> tuple[int, int, int]:
        here = [r for r in present if r.slot == slot]
        return sum(r.level == level for r in here), len(here), (slot - partition) % slots

    return min(range(slots), key=load)


def place_of(executor: Path, slots: int, level: int, partition: int, epoch: int) -> Place:
    """Return the place of a task in the folder of an executor. Choose one of `slots` for a task that is new here."""
    folder = executor / _FOLDER
    residents = _residents(folder)
    own = _find(residents, level, partition)
    if own is None:
        folder.mkdir(mode=0o700, exist_ok=True)
        with open(executor / _LOCK, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            residents = _residents(folder)
            own = _find(residents, level, partition)  # another attempt of the task may have been faster
            if own is None:
                own = Resident(level, partition, choose(residents, slots, level, partition, epoch), epoch)
                path = _path(folder, own)
                path.touch(mode=0o600)
                os.utime(path, (epoch, epoch))
    if own.epoch != epoch:
        os.utime(_path(folder, own), (epoch, epoch))
    beside = {r.partition for r in _present(residents, epoch) if (r.level, r.slot) == (level, own.slot)}
    return Place(own.slot, len(beside | {partition}))


def _present(residents: Iterable[Resident], epoch: int) -> list[Resident]:
    return [r for r in residents if r.epoch >= epoch - 1]


def _find(residents: list[Resident], level: int, partition: int) -> Resident | None:
    return next((r for r in residents if (r.level, r.partition) == (level, partition)), None)


def _residents(folder: Path) -> list[Resident]:
    try:
        with os.scandir(folder) as found:
            return [_resident(entry) for entry in found]
    except FileNotFoundError:
        return []


def _resident(entry: os.DirEntry[str]) -> Resident:
    level, partition, slot = map(int, entry.name.split("-"))
    return Resident(level, partition, slot, int(entry.stat().st_mtime))


def _path(folder: Path, resident: Resident) -> Path:
    return folder / f"{resident.level}-{resident.partition}-{resident.slot}"
