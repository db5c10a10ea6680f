"""Keys that a dict cannot find again, made usable as keys: unhashable ones (lists, dicts, sets...) and those with a NaN.

Decides when two such keys are the same key: when the frozen forms of their contents are equal, in which every NaN is the
same object. Python's NaN equals nothing, so otherwise each record would have a different key. Other keys stay as they are.
Called where keys are computed (``filed_keys``) and where a key is returned to the user (``unwrap_key``).
"""

from __future__ import annotations

import array
import dataclasses
import numbers
from collections.abc import Callable, Hashable, Mapping, Set
from decimal import Decimal
from typing import Any

from headrace.errors import TypeMismatchError
from headrace.types.row import Row

_NAN = float("nan")
"""The one NaN of frozen forms: containers compare their items by identity first, so it equals itself in them."""
_WITHOUT_NAN = frozenset((str, int, bytes, bool, type(None)))


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def holds_nan(value: Any) -> bool:
    """Return whether a key is a NaN, or has one among its items or fields.

    >>> nan = float("nan")
    >>> holds_nan(nan), holds_nan(("a", (1, nan))), holds_nan(("a", 1.5))
    (True, True, False)
    """
    if type(value) in _WITHOUT_NAN:
        return False
    if isinstance(value, (tuple, list, Set, Row)):
        return any(map(holds_nan, value))
    if isinstance(value, Mapping):
        return any(map(holds_nan, value)) or any(map(holds_nan, value.values()))
    if isinstance(value, (numbers.Number, Decimal)):
        return bool(value != value)  # noqa: PLR0124 - what a NaN is, for numbers of any class
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return any(holds_nan(getattr(value, field.name)) for field in dataclasses.fields(value) if field.compare)
    return False


def _freeze_sequence(tag: str) -> Callable[[Any], Hashable]:
    return lambda value: (tag, *map(_freeze, value))


# The order matters: the first base class that fits decides.
_FREEZERS: tuple[tuple[type, Callable[[Any], Hashable]], ...] = (
    (list, _freeze_sequence("list")),
    (tuple, _freeze_sequence("tuple")),
    (Mapping, lambda value: ("dict", frozenset((_freeze(k), _freeze(v)) for k, v in value.items()))),
    (Set, lambda value: ("set", frozenset(map(_freeze, value)))),
    (bytearray, lambda value: ("bytes", bytes(value))),
    (array.array, lambda value: ("array", value.typecode, value.tobytes())),
)


def _freeze(value: Any) -> Hashable:
    """Return a hashable form such that equal values have equal forms."""
    if _is_hashable(value):
        return _with_one_nan(value) if holds_nan(value) else value
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


def _with_one_nan(value: Any) -> Hashable:
    """Return the form of a hashable value that holds a NaN. It has the stable hash, so the key group, of the value."""
    if isinstance(value, complex):
        return ("complex", _freeze(value.real), _freeze(value.imag))
    if isinstance(value, (numbers.Number, Decimal)):
        return _NAN
    if isinstance(value, tuple):
        return tuple(map(_freeze, value))
    if isinstance(value, frozenset):
        return frozenset(map(_freeze, value))
    if isinstance(value, Row):
        names = getattr(value, "_fields", None)
        frozen = Row(*map(_freeze, value)) if names is None else Row(**dict(sorted(zip(names, map(_freeze, value)))))
        frozen.set_row_kind(value.get_row_kind())
        return frozen
    fields = [_freeze(getattr(value, field.name)) for field in dataclasses.fields(value) if field.compare]
    return (type(value).__qualname__, tuple(fields))


class OpaqueKey:
    """A key for a value that a dict cannot find again; equal values have equal keys.

    >>> OpaqueKey([1, {"a": 2}]) == OpaqueKey([1, {"a": 2}]), OpaqueKey([1]) == OpaqueKey([2])
    (True, False)
    >>> OpaqueKey([1, 2]).value
    [1, 2]
    >>> OpaqueKey(float("nan")) == OpaqueKey(float("nan"))
    True
    """

    __slots__ = ("frozen", "value")

    def __init__(self, value: Any) -> None:
        """Take the value, which must not be changed from now on, and compute its frozen form."""
        self.value = value
        self.frozen = _freeze(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpaqueKey) and (self.frozen is other.frozen or self.frozen == other.frozen)

    def __hash__(self) -> int:
        """Hash the frozen form (for this process only, like Python's hashes)."""
        return hash(self.frozen)

    def __reduce__(self) -> tuple[type[OpaqueKey], tuple[Any]]:
        """Pickle the value only."""
        return OpaqueKey, (self.value,)

    def __repr__(self) -> str:
        return f"OpaqueKey({self.value!r})"


def hashable_keys(keys: list[Any]) -> list[Any]:
    """Return ``keys`` itself if all are hashable, else a copy in which the others are wrapped. A NaN stays as it is.

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


def filed_keys(keys: list[Any]) -> list[Any]:
    """Return keys in the form in which state is filed: those that are unhashable or hold a NaN are wrapped.

    On the hot path call it only after a ``TypeError``: inspecting every key would cost more than a lookup.

    >>> filed_keys(["a", (1, float("nan")), [1]])
    ['a', OpaqueKey((1, nan)), OpaqueKey([1])]
    """
    return [OpaqueKey(key) if holds_nan(key) or not _is_hashable(key) else key for key in keys]


def unwrap_key(key: Any) -> Any:
    """Return the key as the user's key selector returned it.

    >>> unwrap_key(OpaqueKey([1])), unwrap_key("a")
    ([1], 'a')
    """
    return key.value if type(key) is OpaqueKey else key
