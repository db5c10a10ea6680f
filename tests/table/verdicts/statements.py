"""Reads files of SQL statements: one statement a line, lines that begin with -- are comments."""

from __future__ import annotations

from pathlib import Path


def statements(path: Path) -> list[str]:
    """Return the statements of a file, without the semicolon at the end."""
    lines = (line.strip() for line in path.read_text().splitlines())
    return [line.removesuffix(";") for line in lines if line and not line.startswith("--")]


def is_query(statement: str) -> bool:
    """Tell whether a statement returns rows.

    >>> is_query("SELECT 1"), is_query("INSERT INTO t SELECT 1")
    (True, False)
    """
    return not statement.upper().startswith(("INSERT", "UPDATE", "DELETE", "EXECUTE", "CREATE", "ALTER", "DROP"))
