"""When entries of a state with a time to live expire.

Decides which part of a stored entry is still alive. A stored entry is a pair ``(value, time of its last use)``, in list
states a list of such pairs. Never removes anything itself: states, tables and snapshots do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.state.ttl import StateTtlConfig
from headrace.types.time import Duration, Time


def milliseconds(ttl: Time | Duration) -> int:
    """Return a time to live in milliseconds.

    >>> milliseconds(Time.seconds(2)), milliseconds(Duration.of_millis(5))
    (2000, 5)
    """
    return ttl.to_milliseconds() if isinstance(ttl, Time) else ttl.to_millis()


class Expiry:
    """The rules of one state.

    >>> expiry = Expiry(StateTtlConfig.new_builder(Time.milliseconds(10)).build(), lambda: 15, per_element=False)
    >>> expiry.living(("a", 6), now=15), expiry.living(("a", 5), now=15)
    (('a', 6), None)
    """

    __slots__ = ("in_full_snapshot", "living", "now", "query_after", "ttl")

    def __init__(self, config: StateTtlConfig, now: Callable[[], int], per_element: bool) -> None:
        """Take the configuration, the clock, and whether an entry is a list of elements with their own ages."""
        strategies = config.get_cleanup_strategies()
        compaction = strategies.get_rocksdb_compact_filter_cleanup_strategy()
        self.ttl = milliseconds(config.get_ttl())
        self.now = now
        self.in_full_snapshot = strategies.in_full_snapshot()
        self.query_after = None if compaction is None else compaction.get_query_time_after_num_entries()
        """After how many entries a clean-up on disk reads the clock again; None if there is no clean-up."""
        self.living: Callable[[Any, int], Any] = self._living_elements if per_element else self._living
        """living(entry, now): the part of an entry that is not expired: itself, less of it, or None."""

    def expired(self, used: int, now: int) -> bool:
        """Return whether something that was last used at ``used`` is expired."""
        return used + self.ttl <= now

    def _living(self, entry: tuple[Any, int], now: int) -> tuple[Any, int] | None:
        return None if entry[1] + self.ttl <= now else entry

    def _living_elements(self, entry: list[tuple[Any, int]], now: int) -> list[tuple[Any, int]] | None:
        kept = [element for element in entry if element[1] + self.ttl > now]
        return entry if len(kept) == len(entry) else kept or None
