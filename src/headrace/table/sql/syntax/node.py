"""The base of all nodes of the syntax tree."""

from __future__ import annotations

from dataclasses import dataclass, field

Name = tuple[str, ...]
"""A name with its qualifiers: `("catalog", "database", "table")`."""


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a statement."""

    position: int = field(default=-1, kw_only=True, compare=False, repr=False)
