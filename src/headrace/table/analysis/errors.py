"""The errors of the analyser: unknown and ambiguous names, types that do not fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches

from headrace.table.errors import SqlNotSupportedError, SqlValidationError
from headrace.table.functions.type_text import sql_text
from headrace.types.logical_types import DataType

_REMEDIES = {
    "column": "check the FROM clause",
    "function": "create it with CREATE FUNCTION or create_temporary_function()",
}


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar, ignoring case, or None.

    >>> nearest("nam", ["name", "age"]), nearest("NAME", ["name"]), nearest("x", ["name"])
    ('name', 'name', None)
    """
    by_folded = {each.lower(): each for each in known}
    found = get_close_matches(name.lower(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def unknown(kind: str, name: str, known: Iterable[str], position: int = -1) -> SqlValidationError:
    """Return the error for a name that does not exist, with the nearest one that does.

    >>> print(unknown("column", "nam", ["name"]).remedy)
    did you mean 'name'?
    """
    known = list(known)
    best = nearest(name, known)
    if best is not None:
        remedy = f"did you mean '{best}'?"
    elif known and kind != "function":
        remedy = f"use one of: {', '.join(known[:20])}{', ...' if len(known) > 20 else ''}"
    else:
        remedy = _REMEDIES.get(kind, f"create the {kind} first")
    return SqlValidationError(f"Unknown {kind} '{name}'", position=position, remedy=remedy)


def invalid(message: str, position: int = -1, remedy: str | None = None) -> SqlValidationError:
    """Return the error for a statement without meaning."""
    return SqlValidationError(message, position=position, remedy=remedy)


def unsupported(message: str, position: int = -1, remedy: str | None = None) -> SqlNotSupportedError:
    """Return the error for a statement that Flink can run but headrace cannot."""
    return SqlNotSupportedError(message, position=position, remedy=remedy)


def wrong_arguments(name: str, types: Sequence[DataType], reason: str, position: int = -1) -> SqlValidationError:
    """Return the error for arguments that do not fit a function.

    >>> from headrace.types.logical_types import IntType
    >>> print(wrong_arguments("UPPER", [IntType()], "expected UPPER(STRING)").seen)
    UPPER(INT)
    """
    seen = f"{name}({', '.join(sql_text(each) for each in types)})"
    return SqlValidationError(
        f"Invalid arguments of function '{name}'",
        position=position,
        seen=seen,
        expected=reason.removeprefix("expected ") or None,
    )


@contextmanager
def located(text: str | None) -> Iterator[None]:
    """Add line, column and caret to validation errors, if the text of the statement is known."""
    try:
        yield
    except SqlValidationError as error:
        if text is None:
            raise
        raise error.located(text) from error.__cause__
