"""Query hints that the analyser has resolved: how long operators keep state."""

from __future__ import annotations

from typing import Any


def state_ttl(hints: tuple[Any, ...], default: int, inputs: int) -> tuple[int, ...]:
    """Return the time to live of state per input, in milliseconds: that of a STATE_TTL hint, or the default.

    >>> state_ttl((("STATE_TTL", (None, 1000)),), 5, 2), state_ttl((), 5, 1)
    ((5, 1000), (5,))
    """
    found = [default] * inputs
    for name, values in hints:
        if name == "STATE_TTL":
            found = [old if new is None else int(new) for old, new in zip(found, values)]
    return tuple(found)
