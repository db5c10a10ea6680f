"""The live branches of one key: changed by the matcher, saved by checkpoints."""

from __future__ import annotations

from typing import Any, NamedTuple

from headrace.operators.cep.shared_buffer import Frozen, Link, frozen, thawed

Branch = tuple[int, "Link | None", int, int, int]
"""(state, newest link, number of the first event, its time, time of the newest event)"""


class BufferSize(NamedTuple):
    """The size of a key's state: branches, waiting complete matches, links, and events."""

    branches: int
    waiting: int
    links: int
    events: int


class KeyState:
    """Branches in order of their start, complete matches that wait for earlier branches, and the event counter.

    `states` are the states in which there may be branches (None: not known). `timer` is the time for which a timer of this key is
    registered. `blocked`: the start itself met a NOT, so nothing can start any more.
    """

    __slots__ = ("blocked", "branches", "complete", "next_number", "states", "timer")

    def __init__(self) -> None:
        self.branches: list[Branch] = []
        self.complete: list[Branch] = []
        self.next_number = 0
        self.states: set[int] | None = None
        self.timer: int | None = None
        self.blocked = False

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to save."""
        return not self.branches and not self.complete and not self.blocked

    def size(self) -> BufferSize:
        """Count the contents; links and events count once, however many branches share them."""
        (events, links), _ = frozen(b[1] for b in (*self.branches, *self.complete))
        return BufferSize(len(self.branches), len(self.complete), len(links), len(events))

    def __reduce__(self) -> tuple[Any, ...]:
        both = [*self.branches, *self.complete]
        tables, indexes = frozen(b[1] for b in both)
        flat = [(b[0], index, *b[2:]) for b, index in zip(both, indexes)]
        return _rebuild_key_state, (tables, flat, len(self.branches), self.next_number, self.timer, self.blocked)


def _rebuild_key_state(
    tables: Frozen, flat: list[Any], branches: int, next_number: int, timer: int | None, blocked: bool
) -> KeyState:
    heads = thawed(tables, [b[1] for b in flat])
    both: list[Any] = [(b[0], head, *b[2:]) for b, head in zip(flat, heads)]
    state = KeyState()
    state.branches, state.complete = both[:branches], both[branches:]
    state.next_number, state.timer, state.blocked = next_number, timer, blocked
    return state
