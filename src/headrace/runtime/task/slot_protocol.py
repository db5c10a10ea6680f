"""What a courier and a slot process say to each other. Light: couriers import no operators.

1. The courier sends a pickled `Request`; 2. the slot says whether it has the job's spec, and gets it if not; 3. the courier sends
the task's frames up to an empty one; 4. the slot sends the task's frames up to an empty one. A slot is ended by a signal.
"""

from __future__ import annotations

from typing import NamedTuple

NEEDS_SPEC, HAS_SPEC = b"needs spec", b"has spec"


class Request(NamedTuple):
    """An epoch of a task. `order` is a pickled EpochOrder."""

    order: bytes
    task_id: tuple[int, int]
    attempt: int
