"""Names in a store: five folders of records and one of state files.

Decides how names are made and read. A name says enough to be sorted without being opened: generation and epoch stand in
it with ten digits. A name that cannot be read is nobody's: it is never deleted.
"""

from __future__ import annotations

import re

__all__ = [
    "FILES",
    "GENERATIONS",
    "MARKERS",
    "PLANS",
    "SLOTS",
    "TEMPORARIES",
    "file_age",
    "generation_name",
    "marker_name",
    "number_of",
    "plan_age",
    "plan_name",
    "slot_name",
    "temporary_generation",
    "temporary_name",
]

GENERATIONS = "generations/"
PLANS = "plans/"
SLOTS = "slots/"
MARKERS = "markers/"
FILES = "state/"
TEMPORARIES = "temporary/"

_PLAN = re.compile(r"e([0-9]{10})-g([0-9]{10})-.+")
_FILE = re.compile(r".+-e([0-9]{10})-g([0-9]{10})-[^/]+")
_TEMPORARY = re.compile(r"g([0-9]{10})-.+")


def generation_name(generation: int) -> str:
    """Name the claim of a generation.

    >>> generation_name(3)
    'generations/0000000003'
    """
    return f"{GENERATIONS}{generation:010d}"


def slot_name(epoch: int) -> str:
    """Name an epoch's slot.

    >>> slot_name(7)
    'slots/0000000007'
    """
    return f"{SLOTS}{epoch:010d}"


def marker_name(epoch: int) -> str:
    """Name an epoch's marker.

    >>> marker_name(7)
    'markers/0000000007'
    """
    return f"{MARKERS}{epoch:010d}"


def plan_name(epoch: int, generation: int, attempt: str) -> str:
    """Name a plan; it is unique for each attempt.

    >>> plan_name(7, 3, "a1")
    'plans/e0000000007-g0000000003-a1'
    """
    return f"{PLANS}e{epoch:010d}-g{generation:010d}-{attempt}"


def temporary_name(generation: int, unique: str) -> str:
    """Name a record that is still being written.

    >>> temporary_name(3, "x1")
    'temporary/g0000000003-x1'
    """
    return f"{TEMPORARIES}g{generation:010d}-{unique}"


def number_of(name: str) -> int | None:
    """Read the number of a generation, slot or marker; None for a name that is none of ours.

    >>> number_of("slots/0000000007"), number_of("slots/notes.txt")
    (7, None)
    """
    last = name.rpartition("/")[2]
    return int(last) if len(last) == 10 and last.isascii() and last.isdigit() else None


def plan_age(name: str) -> tuple[int, int] | None:
    """Read (epoch, generation) of a plan's name.

    >>> plan_age("plans/e0000000007-g0000000003-a1")
    (7, 3)
    """
    return _two(_PLAN, name)


def file_age(name: str) -> tuple[int, int] | None:
    """Read (epoch, generation) of a state file's name: ``...-e<epoch>-g<generation>-<attempt>``.

    >>> file_age("state/v1-0-e0000000003-g0000000001-4.delta"), file_age("state/readme")
    ((3, 1), None)
    """
    return _two(_FILE, name)


def temporary_generation(name: str) -> int | None:
    """Read the generation of a temporary name.

    >>> temporary_generation("temporary/g0000000003-x1")
    3
    """
    match = _TEMPORARY.fullmatch(name.rpartition("/")[2])
    return int(match[1]) if match else None


def _two(pattern: re.Pattern[str], name: str) -> tuple[int, int] | None:
    match = pattern.fullmatch(name.rpartition("/")[2])
    return (int(match[1]), int(match[2])) if match else None
