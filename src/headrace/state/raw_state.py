"""Raw state: bytes that a function writes and reads itself, of the subtask in partitions, of keys by key group.

Decides how the streams that functions write and read behave, and what is saved of raw keyed state. Partitions of a
subtask are elements of an operator list state, so they are redistributed like those. Used by the contexts of
``CheckpointedFunction`` and by the keyed backends.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from headrace.errors import StateError
from headrace.state.tombstone import TOMBSTONE, KeyedDelta, StateDelta

RAW_PREFIX = "_raw_state/"
_ENTRY = 0
"""The key of the one entry that a key group has."""


class _Output(io.RawIOBase):
    """An output stream that keeps its parts."""

    def writable(self) -> bool:
        """Return True: it can be written to."""
        return True

    def _part(self) -> bytearray:
        raise NotImplementedError

    def write(self, data: Any) -> int:
        """Append bytes (or any buffer). Return their number."""
        view = memoryview(data).cast("B")
        self._part().extend(view)
        return len(view)


class OperatorStateCheckpointOutputStream(_Output):
    """The stream of ``get_raw_operator_state_output``, in partitions, the units of redistribution.

    >>> output = OperatorStateCheckpointOutputStream()
    >>> for text in (b"one", b"two"):
    ...     output.start_new_partition()
    ...     _ = output.write(text)
    >>> output.get_number_of_partitions(), output.partitions()
    (2, [b'one', b'two'])
    """

    def __init__(self) -> None:
        """Start empty; without a call of ``start_new_partition`` all bytes are one partition."""
        super().__init__()
        self._parts: list[bytearray] = []

    def start_new_partition(self) -> None:
        """Start a new partition."""
        self._parts.append(bytearray())

    def get_number_of_partitions(self) -> int:
        """Return how many partitions there are."""
        return len(self._parts)

    def partitions(self) -> list[bytes]:
        """Return the written bytes."""
        return [bytes(part) for part in self._parts]

    def _part(self) -> bytearray:
        if not self._parts:
            self.start_new_partition()
        return self._parts[-1]


class KeyedStateCheckpointOutputStream(_Output):
    """The stream of ``get_raw_keyed_operator_state_output``, with a part for each key group of the subtask.

    >>> output = KeyedStateCheckpointOutputStream(range(0, 64))
    >>> output.start_new_key_group(7)
    >>> _ = output.write(b"seven")
    >>> output.by_group(), output.is_key_group_already_started(7), output.is_key_group_already_finished(7)
    ({7: b'seven'}, True, False)
    """

    def __init__(self, key_groups: range) -> None:
        super().__init__()
        self._key_groups = key_groups
        self._parts: dict[int, bytearray] = {}
        self._current: int | None = None

    def get_key_group_list(self) -> list[int]:
        """Return the key groups of the subtask: only these can be written."""
        return list(self._key_groups)

    def start_new_key_group(self, key_group_id: int) -> None:
        """Start a key group; each can be started once."""
        if key_group_id not in self._key_groups:
            raise StateError(
                f"The key group {key_group_id!r} does not belong to this subtask",
                expected=f"one from {self._key_groups.start} to {self._key_groups.stop - 1}",
                remedy="ask get_key_group_list()",
            )
        if key_group_id in self._parts:
            raise StateError(
                f"The key group {key_group_id} was started already", remedy="write all of a key group in one go"
            )
        self._current = key_group_id
        self._parts[key_group_id] = bytearray()

    def get_current_key_group(self) -> int | None:
        """Return the current key group, ``None`` before the first."""
        return self._current

    def is_key_group_already_started(self, key_group_id: int) -> bool:
        """Return whether a key group was started."""
        return key_group_id in self._parts

    def is_key_group_already_finished(self, key_group_id: int) -> bool:
        """Return whether a key group was started, and another one after it."""
        return key_group_id in self._parts and key_group_id != self._current

    def by_group(self) -> dict[int, bytes]:
        """Return the written bytes."""
        return {group: bytes(part) for group, part in self._parts.items()}

    def _part(self) -> bytearray:
        if self._current is None:
            raise StateError("No key group was started", remedy="call start_new_key_group(...) before write(...)")
        return self._parts[self._current]


class StatePartitionStreamProvider:
    """A saved partition of raw operator state.

    >>> StatePartitionStreamProvider(b"one").get_stream().read()
    b'one'
    """

    def __init__(self, data: bytes) -> None:
        self._data = data

    def get_stream(self) -> io.BytesIO:
        """Return a stream over the bytes of the partition, from its beginning."""
        return io.BytesIO(self._data)


class KeyGroupStatePartitionStreamProvider(StatePartitionStreamProvider):
    """The saved raw state of a key group.

    >>> KeyGroupStatePartitionStreamProvider(b"seven", 7).get_key_group_id()
    7
    """

    def __init__(self, data: bytes, key_group_id: int) -> None:
        super().__init__(data)
        self._key_group_id = key_group_id

    def get_key_group_id(self) -> int:
        """Return the key group."""
        return self._key_group_id


class RawKeyedState:
    """The raw keyed state of one operator's subtask, kept and saved by a keyed backend.

    >>> state = RawKeyedState()
    >>> state.replace("0", {7: b"seven"})
    >>> state.collect_delta()
    {'_raw_state/0': {7: [(0, b'seven')]}}
    >>> state.replace("0", {7: b"seven", 8: b"eight"})
    >>> state.collect_delta()
    {'_raw_state/0': {8: [(0, b'eight')]}}
    """

    __slots__ = ("_changed", "_states")

    def __init__(self) -> None:
        self._states: dict[str, dict[int, bytes]] = {}
        self._changed: dict[str, set[int]] = {}

    def get(self, name: str) -> dict[int, bytes]:
        """Return the bytes of all key groups, in their order."""
        return dict(sorted(self._states.get(RAW_PREFIX + name, {}).items()))

    def replace(self, name: str, by_group: Mapping[int, bytes]) -> None:
        """Replace the previous snapshot."""
        name = RAW_PREFIX + name
        before = self._states.get(name, {})
        if not before and not by_group:
            return
        self._states[name] = dict(by_group)
        changed = {group for group in (*before, *by_group) if before.get(group) != by_group.get(group)}
        self._changed.setdefault(name, set()).update(changed)

    def kinds(self) -> dict[str, str]:
        """Return the kind of every state by name."""
        return dict.fromkeys(self._states, "RawKeyedState")

    def collect_delta(self) -> KeyedDelta:
        """Return the changes since the last call."""
        changed, self._changed = self._changed, {}
        return {
            name: {group: [(_ENTRY, self._states[name].get(group, TOMBSTONE))] for group in sorted(groups)}
            for name, groups in changed.items()
            if groups
        }

    def snapshot_full(self) -> KeyedDelta:
        """Return everything, in the same shape."""
        return {
            name: {group: [(_ENTRY, data)] for group, data in sorted(by_group.items())}
            for name, by_group in self._states.items()
            if by_group
        }

    def apply(self, name: str, by_group: StateDelta) -> None:
        """Add saved state; later calls win."""
        state = self._states.setdefault(name, {})
        for group, entries in by_group.items():
            for _, data in entries:
                if data is TOMBSTONE:
                    state.pop(group, None)
                else:
                    state[group] = data
