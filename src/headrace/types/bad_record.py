"""BadRecord: the element that a dead-letter output receives for a record that cannot be read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["BadRecord"]


@dataclass(frozen=True)
class BadRecord:
    """A record of an external system that could not be read: its position, its value, and the reason.

    >>> bad = BadRecord({"topic": "orders", "partition": 0, "offset": 17}, b"{", "not JSON")
    >>> bad.place["offset"], str(bad)
    (17, 'topic orders, partition 0, offset 17: not JSON')
    """

    place: dict[str, Any]
    """`topic`, `partition`, `offset` of a message; `file`, `line` of a file."""
    value: Any
    """The raw value: the bytes of a message, the string of a line."""
    error: str
    key: Any = None
    headers: list[tuple[str, Any]] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{', '.join(f'{name} {part}' for name, part in self.place.items())}: {self.error}"
