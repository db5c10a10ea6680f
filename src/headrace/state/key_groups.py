"""Key -> key group -> subtask, the unit in which keyed state is filed and moved.

Decides where a key lives, by Flink's formulas over headrace's stable hash. Never uses Python's own ``hash`` for it,
which differs from process to process. Called by the key-group partitioner, the backends and the restore.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from headrace.errors import StateError
from headrace.state.opaque_key import OpaqueKey, holds_nan
from headrace.types.stable_hash import murmur, stable_hash

MAX_PARALLELISM_LIMIT = 32768
_DEFAULT_LOWER_BOUND = 128
_CACHE_LIMIT = 1_000_000


def _form(key: Any) -> Any:
    """Return the form of a key that is hashed: equal keys have equal forms."""
    return key.frozen if type(key) is OpaqueKey else key


def default_max_parallelism(parallelism: int) -> int:
    """Return the number of key groups that Flink chooses for an operator of this parallelism.

    >>> default_max_parallelism(1), default_max_parallelism(100), default_max_parallelism(30_000)
    (128, 256, 32768)
    """
    wanted = parallelism + parallelism // 2
    return min(max(1 << (wanted - 1).bit_length(), _DEFAULT_LOWER_BOUND), MAX_PARALLELISM_LIMIT)


def key_group(key: Any, max_parallelism: int) -> int:
    """Return the key group of a key, the same in every process.

    >>> 0 <= key_group("a", 128) < 128
    True
    >>> key_group("a", 128) == key_group("a", 128)
    True
    """
    return murmur(stable_hash(_form(key))) % max_parallelism


def subtask_of(group: int, max_parallelism: int, parallelism: int) -> int:
    """Return the subtask that owns a key group.

    >>> [subtask_of(group, 128, 2) for group in (0, 63, 64, 127)]
    [0, 0, 1, 1]
    """
    return group * parallelism // max_parallelism


def key_group_range(subtask: int, max_parallelism: int, parallelism: int) -> range:
    """Return the key groups that a subtask owns.

    >>> key_group_range(0, 128, 3), key_group_range(2, 128, 3)
    (range(0, 43), range(86, 128))
    """
    if parallelism > max_parallelism:
        raise StateError(
            "The parallelism is greater than the number of key groups",
            seen=f"parallelism {parallelism}, max parallelism {max_parallelism}",
            remedy="lower the parallelism, or set a greater max parallelism before the job's first start",
        )
    start = (subtask * max_parallelism + parallelism - 1) // parallelism
    end = ((subtask + 1) * max_parallelism - 1) // parallelism
    return range(start, end + 1)


class GroupCache(dict[Any, int]):
    """Remembers the key group of each key: ``cache[key]``. It forgets everything when it becomes too large.

    Worth its memory: hashing a string takes some microseconds, more than all other work on an entry of a delta.

    Keys that are equal are one key, as in a dict: ``1``, ``1.0`` and ``True`` are the same.

    >>> GroupCache(128)["a"] == key_group("a", 128)
    True
    """

    __slots__ = ("limit", "max_parallelism")

    def __init__(self, max_parallelism: int, limit: int = _CACHE_LIMIT) -> None:
        super().__init__()
        self.max_parallelism = max_parallelism
        self.limit = limit

    def __missing__(self, key: Any) -> int:
        if len(self) >= self.limit:
            self.clear()
        group = self[key] = murmur(stable_hash(_form(key))) % self.max_parallelism
        return group

    def learn(self, keys: Iterable[Any], group: int) -> None:
        """Remember the group of restored keys, while there is room."""
        if len(self) < self.limit:
            self.update(dict.fromkeys(keys, group))


class TargetCache(dict[Any, int]):
    """Remembers the target subtask of each key, for ``list(map(cache.__getitem__, keys))`` on the hot path.

    Unhashable keys and keys with a NaN raise ``TypeError``: wrap them with ``filed_keys`` then. The cache forgets
    everything when it becomes too large.

    >>> cache = TargetCache(128, 2)
    >>> list(map(cache.__getitem__, ["a", "b", "a"])) == [
    ...     subtask_of(key_group(key, 128), 128, 2) for key in ("a", "b", "a")
    ... ]
    True
    """

    __slots__ = ("limit", "max_parallelism", "parallelism")

    def __init__(self, max_parallelism: int, parallelism: int, limit: int = _CACHE_LIMIT) -> None:
        super().__init__()
        self.max_parallelism = max_parallelism
        self.parallelism = parallelism
        self.limit = limit

    def __missing__(self, key: Any) -> int:
        if holds_nan(key):  # never remembered, so every run of records with such a key gets here
            raise TypeError(f"a key with a NaN does not equal itself: {key!r}")
        if len(self) >= self.limit:
            self.clear()
        group = murmur(stable_hash(_form(key))) % self.max_parallelism
        target = self[key] = group * self.parallelism // self.max_parallelism
        return target
