"""State time to live, as data, and when an entry expires.

Decides which settings a program can make; the names are PyFlink's. Made by user programs, read by backends. Never removes
anything: states, tables and snapshots do.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from enum import Enum
from typing import Any

from headrace.types.time import Duration, Time


class UpdateType(Enum):
    """Which uses of a value restart its time to live."""

    Disabled = 0
    OnCreateAndWrite = 1
    OnReadAndWrite = 2


class StateVisibility(Enum):
    """Whether an expired value that is still stored may be seen."""

    ReturnExpiredIfNotCleanedUp = 0
    NeverReturnExpired = 1


class TtlTimeCharacteristic(Enum):
    """Which clock is used."""

    ProcessingTime = 0


class Strategies(Enum):
    """The ways to clean up."""

    FULL_STATE_SCAN_SNAPSHOT = 0
    INCREMENTAL_CLEANUP = 1
    ROCKSDB_COMPACTION_FILTER = 2


class CleanupStrategy(ABC):
    """Base class of the settings of one way to clean up."""


class EmptyCleanupStrategy(CleanupStrategy):
    """A way to clean up without settings."""


class IncrementalCleanupStrategy(CleanupStrategy):
    """Some entries are checked at each access, or at each record."""

    def __init__(self, cleanup_size: int, run_cleanup_for_every_record: bool) -> None:
        """Take the number of entries to check, and whether also for records that do not use the state."""
        self._cleanup_size = cleanup_size
        self._run_cleanup_for_every_record = run_cleanup_for_every_record

    def get_cleanup_size(self) -> int:
        """Return the number of entries checked each time."""
        return self._cleanup_size

    def run_cleanup_for_every_record(self) -> bool:
        """Return whether each record triggers a check."""
        return self._run_cleanup_for_every_record


class RocksdbCompactFilterCleanupStrategy(CleanupStrategy):
    """Expired entries are dropped when the disk backend compacts."""

    def __init__(self, query_time_after_num_entries: int, periodic_compaction_time: Duration | None = None) -> None:
        """Take how often the clock is read, and the age at which a file is compacted."""
        self._query_time_after_num_entries = query_time_after_num_entries
        self._periodic_compaction_time = periodic_compaction_time or Duration.of_days(30)

    def get_query_time_after_num_entries(self) -> int:
        """Return the number of entries after which the clock is read again."""
        return self._query_time_after_num_entries

    def get_periodic_compaction_time(self) -> Duration:
        """Return the age at which a file is compacted."""
        return self._periodic_compaction_time


_Strategies = Strategies
_CleanupStrategy = CleanupStrategy
_EmptyCleanupStrategy = EmptyCleanupStrategy
_Incremental = IncrementalCleanupStrategy
_CompactFilter = RocksdbCompactFilterCleanupStrategy


class CleanupStrategies:
    """Which ways to clean up are on."""

    Strategies = _Strategies
    CleanupStrategy = _CleanupStrategy
    EmptyCleanupStrategy = _EmptyCleanupStrategy
    IncrementalCleanupStrategy = _Incremental
    RocksdbCompactFilterCleanupStrategy = _CompactFilter
    EMPTY_STRATEGY = _EmptyCleanupStrategy()

    def __init__(self, strategies: dict[_Strategies, _CleanupStrategy], is_cleanup_in_background: bool) -> None:
        """Take the settings of each way that is on."""
        self._strategies = strategies
        self._is_cleanup_in_background = is_cleanup_in_background

    def is_cleanup_in_background(self) -> bool:
        """Return whether the backend cleans up in its own default way."""
        return self._is_cleanup_in_background

    def in_full_snapshot(self) -> bool:
        """Return whether expired entries are left out of full snapshots."""
        return _Strategies.FULL_STATE_SCAN_SNAPSHOT in self._strategies

    def get_incremental_cleanup_strategy(self) -> _Incremental | None:
        """Return the settings of the incremental way; the default ones if only background cleanup is on."""
        chosen = self._strategies.get(_Strategies.INCREMENTAL_CLEANUP)
        if isinstance(chosen, _Incremental):
            return chosen
        return _Incremental(5, False) if self._is_cleanup_in_background else None

    def get_rocksdb_compact_filter_cleanup_strategy(self) -> _CompactFilter | None:
        """Return the settings of the way by compaction; the default ones if only background cleanup is on."""
        chosen = self._strategies.get(_Strategies.ROCKSDB_COMPACTION_FILTER)
        if isinstance(chosen, _CompactFilter):
            return chosen
        return _CompactFilter(1000) if self._is_cleanup_in_background else None


class Builder:
    """Makes a ``StateTtlConfig`` step by step."""

    def __init__(self, ttl: Time | Duration) -> None:
        """Start with PyFlink's defaults: updated on create and write, expired values never seen."""
        self._ttl = ttl
        self._update_type = UpdateType.OnCreateAndWrite
        self._state_visibility = StateVisibility.NeverReturnExpired
        self._ttl_time_characteristic = TtlTimeCharacteristic.ProcessingTime
        self._is_cleanup_in_background = True
        self._strategies: dict[Strategies, CleanupStrategy] = {}

    def set_update_type(self, update_type: UpdateType) -> Builder:
        """Set which uses restart the time."""
        self._update_type = update_type
        return self

    def update_ttl_on_create_and_write(self) -> Builder:
        """Restart the time on each write."""
        return self.set_update_type(UpdateType.OnCreateAndWrite)

    def update_ttl_on_read_and_write(self) -> Builder:
        """Restart the time on each read and write."""
        return self.set_update_type(UpdateType.OnReadAndWrite)

    def set_state_visibility(self, state_visibility: StateVisibility) -> Builder:
        """Set whether expired values may be seen."""
        self._state_visibility = state_visibility
        return self

    def return_expired_if_not_cleaned_up(self) -> Builder:
        """Let expired values be seen until they are cleaned up."""
        return self.set_state_visibility(StateVisibility.ReturnExpiredIfNotCleanedUp)

    def never_return_expired(self) -> Builder:
        """Never let expired values be seen."""
        return self.set_state_visibility(StateVisibility.NeverReturnExpired)

    def set_ttl_time_characteristic(self, ttl_time_characteristic: TtlTimeCharacteristic) -> Builder:
        """Set which clock is used."""
        self._ttl_time_characteristic = ttl_time_characteristic
        return self

    def use_processing_time(self) -> Builder:
        """Use processing time."""
        return self.set_ttl_time_characteristic(TtlTimeCharacteristic.ProcessingTime)

    def cleanup_full_snapshot(self) -> Builder:
        """Leave expired entries out of full snapshots."""
        self._strategies[Strategies.FULL_STATE_SCAN_SNAPSHOT] = CleanupStrategies.EMPTY_STRATEGY
        return self

    def cleanup_incrementally(self, cleanup_size: int, run_cleanup_for_every_record: bool) -> Builder:
        """Check ``cleanup_size`` entries at each access, and at each record if asked."""
        self._strategies[Strategies.INCREMENTAL_CLEANUP] = IncrementalCleanupStrategy(
            cleanup_size, run_cleanup_for_every_record
        )
        return self

    def cleanup_in_rocksdb_compact_filter(
        self, query_time_after_num_entries: int, periodic_compaction_time: Duration | None = None
    ) -> Builder:
        """Drop expired entries when the disk backend compacts."""
        self._strategies[Strategies.ROCKSDB_COMPACTION_FILTER] = RocksdbCompactFilterCleanupStrategy(
            query_time_after_num_entries, periodic_compaction_time
        )
        return self

    def disable_cleanup_in_background(self) -> Builder:
        """Turn off the backend's default clean-up; explicit settings stay on."""
        self._is_cleanup_in_background = False
        return self

    def set_ttl(self, ttl: Time | Duration) -> Builder:
        """Set the time to live."""
        self._ttl = ttl
        return self

    def build(self) -> StateTtlConfig:
        """Return the configuration."""
        return StateTtlConfig(
            self._update_type,
            self._state_visibility,
            self._ttl_time_characteristic,
            self._ttl,
            CleanupStrategies(dict(self._strategies), self._is_cleanup_in_background),
        )


_UpdateType = UpdateType
_StateVisibility = StateVisibility
_TtlTimeCharacteristic = TtlTimeCharacteristic
_CleanupStrategies = CleanupStrategies
_Builder = Builder


class StateTtlConfig:
    """How long values live, which uses prolong it, whether expired values can be seen, and how they are removed.

    >>> config = StateTtlConfig.new_builder(Time.hours(1)).update_ttl_on_read_and_write().build()
    >>> config.get_update_type().name, config.is_enabled()
    ('OnReadAndWrite', True)
    """

    UpdateType = _UpdateType
    StateVisibility = _StateVisibility
    TtlTimeCharacteristic = _TtlTimeCharacteristic
    CleanupStrategies = _CleanupStrategies
    Builder = _Builder

    def __init__(
        self,
        update_type: _UpdateType,
        state_visibility: _StateVisibility,
        ttl_time_characteristic: _TtlTimeCharacteristic,
        ttl: Time | Duration,
        cleanup_strategies: _CleanupStrategies,
    ) -> None:
        """Take the parts; programs use :meth:`new_builder`."""
        self._update_type = update_type
        self._state_visibility = state_visibility
        self._ttl_time_characteristic = ttl_time_characteristic
        self._ttl = ttl
        self._cleanup_strategies = cleanup_strategies

    @staticmethod
    def new_builder(ttl: Time | Duration) -> _Builder:
        """Start a configuration with the given time to live."""
        return _Builder(ttl)

    def get_update_type(self) -> _UpdateType:
        """Return which uses restart the time."""
        return self._update_type

    def get_state_visibility(self) -> _StateVisibility:
        """Return whether expired values may be seen."""
        return self._state_visibility

    def get_ttl(self) -> Time | Duration:
        """Return the time to live."""
        return self._ttl

    def get_ttl_time_characteristic(self) -> _TtlTimeCharacteristic:
        """Return which clock is used."""
        return self._ttl_time_characteristic

    def is_enabled(self) -> bool:
        """Return whether values expire at all."""
        return self._update_type is not _UpdateType.Disabled

    def get_cleanup_strategies(self) -> _CleanupStrategies:
        """Return the ways to clean up."""
        return self._cleanup_strategies

    def __repr__(self) -> str:
        return (
            f"StateTtlConfig<update_type={self._update_type}, state_visibility={self._state_visibility}, "
            f"ttl_time_characteristic={self._ttl_time_characteristic}, ttl={self._ttl}>"
        )


def milliseconds(ttl: Time | Duration) -> int:
    """Return a time to live in milliseconds.

    >>> milliseconds(Time.seconds(2)), milliseconds(Duration.of_millis(5))
    (2000, 5)
    """
    return ttl.to_milliseconds() if isinstance(ttl, Time) else ttl.to_millis()


class Expiry:
    """The rules of one state: which part of a stored entry is still alive.

    A stored entry is a pair ``(value, time of its last use)``, in list states a list of such pairs.

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
