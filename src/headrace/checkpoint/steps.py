"""Short sequences of instructions that several steps of the workflow share. They decide nothing.

`create` handles lost answers: a record names the attempt that wrote it, so a reader knows whose it is.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

from headrace.checkpoint import errors, names
from headrace.checkpoint import instructions as do
from headrace.checkpoint.model import Damaged, FileEntry, Manifest, Marker, Observation, Record, Seal

T = TypeVar("T")
Steps: TypeAlias = Generator[do.Instruction, Any, T]

_TRIES = 3


def create(name: str, record: Record, inside: str | None = None) -> Steps[Record]:
    """Create a record if there is none; return the one that exists now: ours, or that of another driver.

    Retry if an answer is lost. Raise `CheckpointError` OUTCOME_UNKNOWN if that does not help: then only a recovery, which
    reads the store again, can continue. Raise `StoreError` only if certainly nothing was created.
    """
    unsure = False
    for _ in range(_TRIES):
        try:
            if (yield do.Create(name, record, inside)):
                return record
            there: Record = yield do.Read(name)
        except errors.OutcomeUnknownError:
            unsure = True
        except errors.RecordMissingError:
            continue  # another driver's, collected since
        except errors.StoreError:
            if not unsure:
                raise
        else:
            return there
    raise errors.CheckpointError(
        errors.CheckpointFailureReason.OUTCOME_UNKNOWN, seen=name, remedy="the job recovers automatically."
    )


def same_record(one: Record, other: Record) -> bool:
    """Return whether two records have the same kind and writer; positions may be read back as equal lists.

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
    """Return the highest claimed generation. Only the name counts: a damaged claim is a claim."""
    found: list[str] = yield do.ListNames(names.GENERATIONS)
    return max((n for n in map(names.number_of, found) if n is not None), default=0)


def observe(settle: bool = True) -> Steps[Observation]:
    """Read all records.

    1. Settle: what is seen must not vanish in a crash of the machine after others have acted on it. A driver that acts
       only on what it made durable itself can skip this.
    2. Markers before the log: a driver that sees a marker also sees its manifest.
    3. Generations last: a claim always precedes what its driver writes.
    """
    if settle:  # 1
        yield do.Settle()
    markers: dict[int, Marker | Damaged] = {}
    for epoch, record in (yield from _read_all(names.MARKERS)).items():  # 2
        if not isinstance(record, Marker | Damaged):
            record = Damaged(names.marker_name(epoch), "it is not a marker")
        markers[epoch] = record
    plans: list[str] = yield do.ListNames(names.PLANS)
    log: dict[int, Manifest | Seal | Damaged] = {}
    for epoch, record in (yield from _read_all(names.LOG)).items():
        if not isinstance(record, Manifest | Seal | Damaged):
            record = Damaged(names.entry_name(epoch), "it is neither a manifest nor a seal")
        log[epoch] = record
    claims: list[str] = yield do.ListNames(names.GENERATIONS)  # 3
    planned = tuple(age[0] for age in map(names.plan_age, plans) if age is not None)
    generations = tuple(n for n in map(names.number_of, claims) if n is not None)
    return Observation(generations, log, markers, planned)


def first_bad_file(files: tuple[FileEntry, ...]) -> Steps[Damaged | None]:
    """Check the files that a manifest lists; return the first that cannot be used."""
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
        except errors.DamagedRecordError as error:
            records[number] = Damaged(name, error.reason)
        except errors.RecordMissingError:
            continue  # collected since: something newer exists
    return records
