"""Names in a store: five folders of records and one of state files.

Decides how names are built and parsed. A name contains generation and epoch with ten digits, so that it can be sorted
without opening the file. A name that cannot be parsed belongs to someone else: it is never deleted.
"""

from __future__ import annotations

import re

from headrace.checkpoint.errors import StoreError

GENERATIONS = "generations/"
PLANS = "plans/"
LOG = "slots/"
"""One entry for each epoch. The folder keeps its name: checkpoints of all versions have it."""
MARKERS = "markers/"
FILES = "state/"
TEMPORARIES = "temporary/"
FOLDERS = (GENERATIONS, PLANS, LOG, MARKERS, FILES, TEMPORARIES)

_PLAN = re.compile(r"e([0-9]{10})-g([0-9]{10})-.+")
_FILE = re.compile(r".+-e([0-9]{10})-g([0-9]{10})-[^/]+")
_TEMPORARY = re.compile(r"g([0-9]{10})-.+")


def checked(name: str) -> str:
    """Return the name if it is that of a file in one of the folders. Raise `StoreError` if it could lead elsewhere.

    >>> checked("markers/0000000007")
    'markers/0000000007'
    """
    folder, slash, last = name.partition("/")
    if last in ("", ".", "..") or "/" in last or "\0" in last:
        raise StoreError("The name of a record or file must consist of a folder and a plain name", seen=name)
    checked_folder(folder + slash)
    return name


def checked_folder(folder: str) -> str:
    """Return the folder if a store has it, else raise `StoreError`."""
    if folder not in FOLDERS:
        raise StoreError("A store has no such folder", seen=folder, expected=", ".join(FOLDERS))
    return folder


def generation_name(generation: int) -> str:
    """Return the name of the claim of a generation.

    >>> generation_name(3)
    'generations/0000000003'
    """
    return f"{GENERATIONS}{generation:010d}"


def entry_name(epoch: int) -> str:
    """Return the name of an epoch's entry in the log.

    >>> entry_name(7)
    'slots/0000000007'
    """
    return f"{LOG}{epoch:010d}"


def marker_name(epoch: int) -> str:
    """Return the name of an epoch's marker.

    >>> marker_name(7)
    'markers/0000000007'
    """
    return f"{MARKERS}{epoch:010d}"


def plan_name(epoch: int, generation: int, attempt: str) -> str:
    """Return the name of a plan; it is unique for each attempt.

    >>> plan_name(7, 3, "a1")
    'plans/e0000000007-g0000000003-a1'
    """
    return f"{PLANS}e{epoch:010d}-g{generation:010d}-{attempt}"


def temporary_name(generation: int, unique: str) -> str:
    """Return the name of a record that is still being written.

    >>> temporary_name(3, "x1")
    'temporary/g0000000003-x1'
    """
    return f"{TEMPORARIES}g{generation:010d}-{unique}"


def number_of(name: str) -> int | None:
    """Return the number of a generation, log entry or marker; None for any other name.

    >>> number_of("slots/0000000007"), number_of("slots/notes.txt")
    (7, None)
    """
    last = name.rpartition("/")[2]
    return int(last) if len(last) == 10 and last.isascii() and last.isdigit() else None


def plan_age(name: str) -> tuple[int, int] | None:
    """Return (epoch, generation) of a plan's name.

    >>> plan_age("plans/e0000000007-g0000000003-a1")
    (7, 3)
    """
    return _two(_PLAN, name)


def file_age(name: str) -> tuple[int, int] | None:
    """Return (epoch, generation) of a state file's name: ``...-e<epoch>-g<generation>-<attempt>``.

    >>> file_age("state/v1-0-e0000000003-g0000000001-4.delta"), file_age("state/readme")
    ((3, 1), None)
    """
    return _two(_FILE, name)


def temporary_generation(name: str) -> int | None:
    """Return the generation of a temporary name.

    >>> temporary_generation("temporary/g0000000003-x1")
    3
    """
    match = _TEMPORARY.fullmatch(name.rpartition("/")[2])
    return int(match[1]) if match else None


def _two(pattern: re.Pattern[str], name: str) -> tuple[int, int] | None:
    match = pattern.fullmatch(name.rpartition("/")[2])
    return (int(match[1]), int(match[2])) if match else None
