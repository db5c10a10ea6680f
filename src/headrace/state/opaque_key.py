"""Keys that Python cannot hash (lists, dicts, sets, bytearrays...), made usable as keys.

Decides when two such keys are the same key: when they are equal, by a frozen form of their contents. Never touches
keys that are hashable already. Called where keys are computed (``hashable_keys``) and where a key is shown to the
user again (``unwrap_key``).
"""

from __future__ import annotations

import array
import dataclasses
from collections.abc import Callable, Hashable, Mapping, Set
from typing import Any

from headrace.common.errors import TypeMismatchError

__all__ = ["OpaqueKey", "hashable_keys", "unwrap_key"]


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _freeze_sequence(tag: str) -> Callable[[Any], Hashable]:
    return lambda value: (tag, *map(_freeze, value))


def _freeze_mapping(value: Mapping[Any, Any]) -> Hashable:
    return ("dict", frozenset((_freeze(k), _freeze(v)) for k, v in value.items()))


def _freeze_set(value: Set[Any]) -> Hashable:
    return ("set", frozenset(map(_freeze, value)))


# The order matters: the first base class that fits decides.
_FREEZERS: tuple[tuple[type, Callable[[Any], Hashable]], ...] = (
    (list, _freeze_sequence("list")),
    (tuple, _freeze_sequence("tuple")),
    (Mapping, _freeze_mapping),
    (Set, _freeze_set),
    (bytearray, lambda value: ("bytes", bytes(value))),
    (array.array, lambda value: ("array", value.typecode, value.tobytes())),
)


def _freeze(value: Any) -> Hashable:
    """Give a hashable form such that equal values have equal forms."""
    if _is_hashable(value):
        return value  # type: ignore[no-any-return]
    for base, freeze in _FREEZERS:
        if isinstance(value, base):
            return freeze(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = tuple(_freeze(getattr(value, field.name)) for field in dataclasses.fields(value) if field.compare)
        return ("object", type(value).__module__, type(value).__qualname__, fields)
    if hasattr(value, "tobytes") and hasattr(value, "dtype") and hasattr(value, "shape"):  # numpy without numpy
        return ("ndarray", str(value.dtype), tuple(value.shape), value.tobytes())
    raise TypeMismatchError(
        "A value of this type cannot be a key: it is not hashable",
        seen=value,
        expected="a hashable value, or a list, tuple, dict, set, bytearray, array or dataclass",
        remedy="give the class __eq__ and __hash__, or let the key selector return a tuple of its fields",
    )


class OpaqueKey:
    """A key that stands for an unhashable value; equal values give equal keys.

    >>> OpaqueKey([1, {"a": 2}]) == OpaqueKey([1, {"a": 2}]), OpaqueKey([1]) == OpaqueKey([2])
    (True, False)
    >>> OpaqueKey([1, 2]).value
    [1, 2]
    """

    __slots__ = ("frozen", "value")

    def __init__(self, value: Any) -> None:
        """Keep the value, which must not be changed from now on, and its frozen form."""
        self.value = value
        self.frozen = _freeze(value)

    def __eq__(self, other: object) -> bool:
        """Compare the frozen forms."""
        return isinstance(other, OpaqueKey) and self.frozen == other.frozen

    def __hash__(self) -> int:
        """Hash the frozen form (for this process only, as Python's hashes are)."""
        return hash(self.frozen)

    def __reduce__(self) -> tuple[type[OpaqueKey], tuple[Any]]:
        """Pickle the value only."""
        return OpaqueKey, (self.value,)

    def __repr__(self) -> str:
        """Show the value."""
        return f"OpaqueKey({self.value!r})"


def hashable_keys(keys: list[Any]) -> list[Any]:
    """Give ``keys`` itself if all are hashable, else a copy in which the others are wrapped.

    On the hot path call it only after a ``TypeError``: hashing every key once more would cost what a lookup costs.

    >>> keys = ["a", 1]
    >>> hashable_keys(keys) is keys
    True
    >>> hashable_keys(["a", [1]])
    ['a', OpaqueKey([1])]
    """
    try:
        for _ in map(hash, keys):
            pass
    except TypeError:
        return [key if _is_hashable(key) else OpaqueKey(key) for key in keys]
    return keys


def unwrap_key(key: Any) -> Any:
    """Give the key as the user's key selector returned it.

    >>> unwrap_key(OpaqueKey([1])), unwrap_key("a")
    ([1], 'a')
    """
    return key.value if type(key) is OpaqueKey else key
