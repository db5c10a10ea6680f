"""Rows: values with positions, names and a kind of change.

Decides how a row is read, compared and printed, as in PyFlink. Does not check field types: codecs do. Used by programs,
by the codecs of row types, and by the Table API.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from functools import lru_cache
from operator import attrgetter, itemgetter
from typing import Any

from headrace.errors import NoJvmError

__all__ = ["Row", "RowKind"]


class RowKind(Enum):
    """The kind of change of a table: a new row, the old or the new version of an updated row, a deleted row.

    >>> [str(kind) for kind in RowKind]
    ['+I', '-U', '+U', '-D']
    """

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    def __str__(self) -> str:
        """Return the two characters before a printed row."""
        return _KIND_TEXT[self._value_]

    def to_j_row_kind(self) -> Any:
        """Raise NoJvmError: there is no Flink JVM.

        >>> RowKind.INSERT.to_j_row_kind()
        Traceback (most recent call last):
        ...
        headrace.errors.NoJvmError: A RowKind has no Java counterpart in headrace [NO_JVM]
        """
        raise NoJvmError("A RowKind has no Java counterpart in headrace")


_KIND_TEXT = ("+I", "-U", "+U", "-D")
_INSERT = RowKind.INSERT


def _create_row(fields: list[str] | None, values: Sequence[Any], row_kind: RowKind | None = None) -> Row:
    row = Row(*values)
    if fields is not None:
        row._fields = fields
    if row_kind is not None:
        row._row_kind = row_kind  # noqa: SLF001 - the row is made here
    return row


@lru_cache(maxsize=1024)
def _in_name_order(names: tuple[str, ...]) -> Callable[[list[Any]], Any]:
    # Rows are equal regardless of the order of their fields, so their hash must not depend on it either.
    order = sorted(range(len(names)), key=names.__getitem__)
    return tuple if order == list(range(len(names))) else itemgetter(*order)


class Row:
    """Values with positions and usually names.

    >>> row = Row(name="Alice", age=11)
    >>> row
    Row(name='Alice', age=11)
    >>> row["name"], row.age, row[0], "age" in row
    ('Alice', 11, 'Alice', True)

    An unnamed row can be called like a class whose fields are named by its values:

    >>> Person = Row("name", "age")
    >>> Person("Bob", 7)
    Row(name='Bob', age=7)
    """

    # Slots make a row small and fast, and prevent other attributes.
    __slots__ = ("_fields", "_row_kind", "_values")

    _fields: list[str]
    _row_kind: RowKind
    _values: list[Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Create an unnamed row from ``args`` or a named one from ``kwargs``."""
        if args and kwargs:
            raise ValueError("A Row takes either values or named values, not both")
        if kwargs:
            self._fields = list(kwargs)
            self._values = list(kwargs.values())
        else:
            self._values = list(args)
        self._row_kind = _INSERT

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        """Return the fields as a dict; ``recursive`` also converts nested rows.

        >>> Row(key=1, value=Row(name="a")).as_dict(True)
        {'key': 1, 'value': {'name': 'a'}}
        """
        if not hasattr(self, "_fields"):
            raise TypeError("A Row without field names cannot become a dict")
        return dict(zip(self._fields, map(_plain, self._values) if recursive else self._values, strict=False))

    def get_row_kind(self) -> RowKind:
        """Return the kind of change.

        >>> Row(1).get_row_kind()
        <RowKind.INSERT: 0>
        """
        return self._row_kind

    def set_row_kind(self, row_kind: RowKind) -> None:
        """Set the kind of change.

        >>> row = Row(1)
        >>> row.set_row_kind(RowKind.DELETE)
        >>> str(row.get_row_kind())
        '-D'
        """
        self._row_kind = row_kind

    def set_field_names(self, field_names: list[str]) -> None:
        """Name the fields.

        >>> row = Row(1, 2)
        >>> row.set_field_names(["a", "b"])
        >>> row
        Row(a=1, b=2)
        """
        self._fields = field_names

    def get_fields_by_names(self, names: list[str]) -> list[Any]:
        """Return the values in the order of ``names``, or all values of an unnamed row.

        >>> Row(a=1, b=2).get_fields_by_names(["b", "a"])
        [2, 1]
        """
        if not hasattr(self, "_fields") or names == self._fields:
            return self._values
        missing = [name for name in names if name not in self._fields]
        if missing:
            raise KeyError(f"The row has no fields {missing}; its fields are {self._fields}")
        return [self._values[self._fields.index(name)] for name in names]

    @staticmethod
    def of_kind(row_kind: RowKind, *args: Any, **kwargs: Any) -> Row:
        """Create a row of a kind.

        >>> Row.of_kind(RowKind.UPDATE_AFTER, 1, "a").get_row_kind()
        <RowKind.UPDATE_AFTER: 2>
        """
        row = Row(*args, **kwargs)
        row._row_kind = row_kind
        return row

    def _position(self, name: Any) -> int:
        try:
            return self._fields.index(name)
        except ValueError:
            raise ValueError(f"The row has no field {name!r}; its fields are {self._fields}") from None

    def __contains__(self, item: Any) -> bool:
        """Search the names or, in an unnamed row, the values."""
        return item in (self._fields if getattr(self, "_fields", None) is not None else self._values)

    def __call__(self, *args: Any) -> Row:
        """Create a row whose fields are named by the values of this one."""
        if len(args) > len(self._values):
            raise ValueError(f"{self!r} names {len(self._values)} fields but {len(args)} values are given: {args}")
        return _create_row(self._values, args, self._row_kind)

    def __getitem__(self, item: Any) -> Any:
        """Read by position, slice or name."""
        if isinstance(item, (int, slice)):
            return self._values[item]
        return self._values[self._position(item)]

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write by position, slice or name."""
        if isinstance(key, (int, slice)):
            self._values[key] = value
        elif hasattr(self, "_fields"):
            self._values[self._position(key)] = value
        else:
            raise KeyError(key)

    def __getattr__(self, item: str) -> Any:
        if item.startswith("_"):
            raise AttributeError(f"A row without names has no {item!r}" if item == "_fields" else item)
        try:
            return self._values[self._fields.index(item)]
        except (ValueError, IndexError):
            raise AttributeError(f"The row has no field {item!r}; its fields are {self._fields}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle in the shortest form that keeps values, names and kind."""
        state: tuple[Any, ...] = (getattr(self, "_fields", None), tuple(self._values))
        return _create_row, state if self._row_kind is _INSERT else (*state, self._row_kind)

    def __repr__(self) -> str:
        """Return names and values, or the values in angle brackets."""
        if hasattr(self, "_fields"):
            return f"Row({', '.join(f'{k}={v!r}' for k, v in zip(self._fields, self._values, strict=False))})"
        return f"<Row({', '.join(map(repr, self._values))})>"

    def __eq__(self, other: object) -> bool:
        """Compare kind, names in any order, and values."""
        if not isinstance(other, Row) or self.__class__ is not other.__class__ or self._row_kind != other._row_kind:
            return False
        mine, theirs = getattr(self, "_fields", None), getattr(other, "_fields", None)
        if mine == theirs:
            return bool(self._values == other._values)
        if mine is None or theirs is None or sorted(mine) != sorted(theirs):
            return False
        mine_first = [theirs.index(name) for name in mine]
        return all(a == b for a, b in zip(self._values, map(other._values.__getitem__, mine_first), strict=False))

    def __hash__(self) -> int:
        """Hash the values, in the order of their names: equal rows have equal hashes."""
        fields = getattr(self, "_fields", None)
        if fields is None or len(fields) != len(self._values):
            return hash(tuple(self._values))
        return hash(_in_name_order(tuple(fields))(self._values))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


fields_of: Callable[[Row], list[str]] = attrgetter("_fields")
values_of: Callable[[Row], list[Any]] = attrgetter("_values")
kind_of: Callable[[Row], RowKind] = attrgetter("_row_kind")


def named_rows(fields: list[str], values: Iterable[list[Any]]) -> list[Row]:
    """Create many inserted rows that share their list of names. Each row takes ownership of its list of values.

    >>> named_rows(["a", "b"], [[1, 2], [3, 4]])
    [Row(a=1, b=2), Row(a=3, b=4)]
    """
    rows = []
    for row_values in values:
        row = _new_row(Row)
        row._fields = fields
        row._values = row_values  # noqa: SLF001 - the row is made here
        row._row_kind = _INSERT  # noqa: SLF001
        rows.append(row)
    return rows


_new_row = Row.__new__


def _plain(value: Any) -> Any:
    if isinstance(value, Row):
        return value.as_dict(True)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value
