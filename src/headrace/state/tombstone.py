"""The mark of a deleted entry in a delta, and the shapes of deltas.

Used by backends and timers (which make deltas), by the files (which store them) and by the restore (which applies
them).
"""

from __future__ import annotations

from typing import Any, Final

Entries = list[tuple[Any, Any]]
"""``(entry key, value or TOMBSTONE)`` pairs; an entry key is a key, or ``(key, namespace)`` in namespaced tables."""

StateDelta = dict[int, Entries]
"""Key group -> entries of one state."""

KeyedDelta = dict[str, StateDelta]
"""State name -> key group -> entries."""


class Tombstone:
    """The class of :data:`TOMBSTONE`.

    >>> import pickle
    >>> pickle.loads(pickle.dumps(TOMBSTONE)) is TOMBSTONE
    True
    """

    __slots__ = ()

    def __reduce__(self) -> str:
        """Pickle as the name of the only instance."""
        return "TOMBSTONE"

    def __repr__(self) -> str:
        return "TOMBSTONE"


TOMBSTONE: Final = Tombstone()
