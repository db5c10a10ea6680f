"""Small sequences of instructions that several steps of the workflow share. No decisions of their own.

`create` settles lost answers: a record names the attempt that wrote it, so whoever reads it back knows whose it is.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

from headrace.checkpoint import instructions as do
from headrace.checkpoint import names
from headrace.checkpoint.errors import (
    CheckpointError,
    DamagedRecordError,
    OutcomeUnknownError,
    RecordMissingError,
    StoreError,
)
from headrace.checkpoint.failure_reasons import CheckpointFailureReason
from headrace.checkpoint.model import Damaged, FileEntry, Manifest, Marker, Observation, Record, Seal

__all__ = ["Steps", "create", "first_bad_file", "newest_generation", "observe", "same_record"]

T = TypeVar("T")
Steps: TypeAlias = Generator[do.Instruction, Any, T]

_TRIES = 3


def create(name: str, record: Record, inside: str | None = None) -> Steps[Record]:
    """Create a record if there is none, and give the one that is there now: ours, or another's.

    An answer that got lost is asked for again. Raises `CheckpointError` OUTCOME_UNKNOWN if that does not help: then
    only a recovery, which looks at the store anew, can go on. Raises `StoreError` only if surely nothing was created.
    """
    unsure = False
    for _ in range(_TRIES):
        try:
            if (yield do.Create(name, record, inside)):
                return record
            there: Record = yield do.Read(name)
        except OutcomeUnknownError:
            unsure = True
        except RecordMissingError:
            continue  # another's, collected meanwhile
        except StoreError:
            if not unsure:
                raise
        else:
            return there
    raise CheckpointError(CheckpointFailureReason.OUTCOME_UNKNOWN, seen=name, remedy="the job recovers by itself.")


def same_record(one: Record, other: Record) -> bool:
    """Say whether two are the same record: by kind and who wrote it, as positions may come back as equal lists.

    >>> same_record(Marker("job", 1, 7, "a"), Seal("job", 1, 7, "a", None))
    False
    """
    return (type(one), one.generation, one.epoch, one.attempt) == (
        type(other),
        other.generation,
        other.epoch,
        other.attempt,
    )


def newest_generation() -> Steps[int]:
    """Give the highest generation that was claimed. The name alone counts: a damaged claim is a claim."""
    found: list[str] = yield do.ListNames(names.GENERATIONS)
    return max((n for n in map(names.number_of, found) if n is not None), default=0)


def observe(settle: bool = True) -> Steps[Observation]:
    """Look at all records.

    1. Settle: what is seen must not vanish again in a crash of the machine after others have acted on it. Whoever acts
       only on what it made durable itself need not.
    2. Markers before slots: whoever sees a marker also sees its slot.
    3. Generations last: a claim always precedes what its driver writes.
    """
    if settle:  # 1
        yield do.Settle()
    markers: dict[int, Marker | Damaged] = {}
    for epoch, record in (yield from _read_all(names.MARKERS)).items():  # 2
        if not isinstance(record, Marker | Damaged):
            record = Damaged(names.marker_name(epoch), "it is no marker")
        markers[epoch] = record
    plans: list[str] = yield do.ListNames(names.PLANS)
    slots: dict[int, Manifest | Seal | Damaged] = {}
    for epoch, record in (yield from _read_all(names.SLOTS)).items():
        if not isinstance(record, Manifest | Seal | Damaged):
            record = Damaged(names.slot_name(epoch), "it is neither a manifest nor a seal")
        slots[epoch] = record
    claims: list[str] = yield do.ListNames(names.GENERATIONS)  # 3
    planned = tuple(age[0] for age in map(names.plan_age, plans) if age is not None)
    generations = tuple(n for n in map(names.number_of, claims) if n is not None)
    return Observation(generations, slots, markers, planned)


def first_bad_file(files: tuple[FileEntry, ...]) -> Steps[Damaged | None]:
    """Check the files that a manifest lists; give the first that cannot be used."""
    for file in files:
        problem: str | None = yield do.CheckFile(file)
        if problem is not None:
            return Damaged(names.FILES + file.name, problem)
    return None


def _read_all(folder: str) -> Steps[dict[int, Record | Damaged]]:
    found: list[str] = yield do.ListNames(folder)
    records: dict[int, Record | Damaged] = {}
    for name in found:
        number = names.number_of(name)
        if number is None:
            continue
        try:
            records[number] = yield do.Read(name)
        except DamagedRecordError as error:
            records[number] = Damaged(name, error.reason)
        except RecordMissingError:
            continue  # collected meanwhile: something newer is there
    return records
