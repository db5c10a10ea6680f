"""What a courier and a slot process say to each other, and where they meet. Light: couriers import no operators."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

NEEDS_SPEC, HAS_SPEC = b"needs spec", b"has spec"


@dataclass(frozen=True)
class Request:
    """What a courier asks for: an epoch of a task, or (order is None) the end of the slot."""

    order: bytes | None = None
    task_id: tuple[int, int] = (0, 0)
    attempt: int = 0


def socket_path(directory: Path, index: int) -> Path:
    """Where slot `index` listens."""
    return directory / f"slot-{index}.sock"
