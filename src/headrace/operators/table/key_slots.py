"""KeySlots: a number for each key, so that arrays can be indexed by keys; and the groups of a batch by slice and key."""

from __future__ import annotations

from typing import Any

from headrace.operators.table.batches import arrow_type, numpy, pyarrow
from headrace.types import logical_types as t

_FLOATS = (t.FloatType, t.DoubleType)
_NESTED = (t.ArrayType, t.MapType, t.MultisetType, t.RowType, t.RawType, t.NullType)


def can_be_encoded(kind: t.DataType) -> bool:
    """Return whether columns of a type can be keys here. A NaN does not equal itself, so floats are left to rows."""
    return not isinstance(kind, (*_FLOATS, *_NESTED))


def encoded(columns: list[Any], rows: int) -> tuple[Any, list[Any]]:
    """Return a code for each row of a batch, and the columns of the key of each code."""
    np, pc = numpy(), pyarrow("pyarrow.compute")
    if not columns:
        return np.zeros(rows, dtype=np.int64), []
    if len(columns) == 1:
        encoded = pc.dictionary_encode(columns[0], null_encoding="encode")
        return encoded.indices.to_numpy(), [encoded.dictionary]
    codes: Any = None
    for column in columns:
        encoded = pc.dictionary_encode(column, null_encoding="encode")
        indices = encoded.indices.to_numpy()
        codes = indices.astype(np.int64) if codes is None else codes * len(encoded.dictionary) + indices
        encoded = pyarrow().array(codes).dictionary_encode()  # keep codes small, whatever the number of columns
        codes = encoded.indices.to_numpy().astype(np.int64)
    first = np.zeros(int(codes.max()) + 1 if rows else 0, dtype=np.int64)
    first[codes[::-1]] = np.arange(rows - 1, -1, -1)
    return codes, [column.take(pyarrow().array(first)) for column in columns]


class KeySlots:
    """Slots of keys, in the order of their arrival. `compact` renumbers those that are still used."""

    def __init__(self, types: list[t.DataType]) -> None:
        """Set the types of the columns of a key."""
        self._types = [arrow_type(kind) for kind in types]
        self.slots: dict[Any, int] = {}
        self._arrays: list[Any] = [pyarrow().array([], kind) for kind in self._types]
        self._pending: list[list[Any]] = [[] for _ in self._types]

    def __len__(self) -> int:
        return len(self.slots)

    def of(self, keys: list[Any]) -> Any:
        """Return the slots of distinct keys, given as columns; new keys get new slots."""
        np = numpy()
        values = keys_of_columns(keys)
        slots = self.slots
        get = slots.get
        found = [get(value, -1) for value in values]
        if -1 in found:
            new = [i for i, slot in enumerate(found) if slot < 0]
            for i in new:
                found[i] = slots[values[i]] = len(slots)
            self._flush()
            chosen = pyarrow().array(new)
            self._append([column.take(chosen) for column in keys])
        return np.array(found, dtype=np.int64)

    def of_key(self, key: Any) -> int:
        """Return the slot of one key."""
        slot = self.slots.get(key)
        if slot is None:
            slot = self.slots[key] = len(self.slots)
            for pending, value in zip(self._pending, (key,) if len(self._types) == 1 else key):
                pending.append(value)
        return slot

    def columns(self, places: Any) -> list[Any]:
        """Return the columns of the keys in some slots."""
        self._flush()
        chosen = pyarrow().array(places)
        return [array.take(chosen) for array in self._arrays]

    def keys(self, places: Any) -> list[Any]:
        """Return the keys in some slots."""
        return keys_of_columns(self.columns(places)) if self._types else [()] * len(places)

    def compact(self, used: Any) -> None:
        """Keep the slots of the array `used` only, which get the numbers 0, 1, ..."""
        self._arrays = self.columns(used)
        self.slots = {
            key: i for i, key in enumerate(keys_of_columns(self._arrays) if self._types else [()] * len(used))
        }

    def _append(self, columns: list[Any]) -> None:
        concat = pyarrow().concat_arrays
        self._arrays = [concat([array, column]) for array, column in zip(self._arrays, columns)]

    def _flush(self) -> None:
        if self._pending and self._pending[0]:
            self._append([pyarrow().array(values, kind) for values, kind in zip(self._pending, self._types)])
            self._pending = [[] for _ in self._types]


def keys_of_columns(columns: list[Any]) -> list[Any]:
    """Return keys as `TableKey` makes them; of no columns, one key."""
    if len(columns) == 1:
        return _values(columns[0])
    return list(zip(*map(_values, columns))) if columns else [()]


def _values(array: Any) -> list[Any]:
    if array.null_count or not pyarrow("pyarrow.types").is_integer(array.type):
        return array.to_pylist()  # type: ignore[no-any-return]
    return array.to_numpy().tolist()  # type: ignore[no-any-return]
