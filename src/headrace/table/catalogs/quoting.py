"""Names and texts as SQL."""

from __future__ import annotations

from collections.abc import Iterable


def identifier(*parts: str) -> str:
    """Return a name in backquotes.

    >>> identifier("db", "a`b")
    '`db`.`a``b`'
    """
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)


def identifiers(names: Iterable[str]) -> str:
    """Return a list of names in backquotes.

    >>> identifiers(["a", "b"])
    '`a`, `b`'
    """
    return ", ".join(map(identifier, names))


def literal(text: str) -> str:
    """Return a text in single quotes.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"
