"""Codecs of tuples and rows: a batch is split into columns, and each column is encoded by its own codec.

The only Python code that runs per record is the unpacking in list comprehensions and the creation of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any

from headrace.errors import TypeMismatchError, shortened
from headrace.types.codecs._codec import Codec, mismatch
from headrace.types.row import Row, RowKind, fields_of, kind_of, named_rows, values_of

_TUPLE = frozenset({tuple})
_ROW = frozenset({Row})

Columns = Sequence[Sequence[Any]]


def _one(records: Sequence[Any]) -> Columns:
    return ([a for (a,) in records],)


def _two(records: Sequence[Any]) -> Columns:
    return [a for a, _ in records], [b for _, b in records]


def _three(records: Sequence[Any]) -> Columns:
    return [a for a, _, _ in records], [b for _, b, _ in records], [c for _, _, c in records]


# Unpacking extracts a column and checks the number of fields at once, in 25 ns per record; zip(*records) takes 80.
_BY_WIDTH: dict[int, Callable[[Sequence[Any]], Columns]] = {1: _one, 2: _two, 3: _three}


def columns_of(records: Sequence[Any], width: int) -> Columns | None:
    """Return the columns of equally wide records, or ``None`` if one of them has another number of fields.

    >>> columns_of([(1, "a"), (2, "b")], 2)
    ([1, 2], ['a', 'b'])
    >>> columns_of([(1, "a"), (2,)], 2) is None
    True
    """
    try:
        if width in _BY_WIDTH:
            return _BY_WIDTH[width](records)
        columns = [list(column) for column in zip(*records, strict=True)]
    except ValueError:
        return None
    if not records:
        return [[] for _ in range(width)]
    return columns if len(columns) == width else None


def _located(error: TypeMismatchError, field: object, expected: str, record: object) -> TypeMismatchError:
    return TypeMismatchError(
        f"Field {field} of a record does not have the declared type",
        seen=f"{error.seen}\nin {shortened(record)}",
        expected=f"{error.expected}\nin {expected}",
        remedy=error.remedy,
    )


class NullableCodec(Codec):
    """Adds ``None`` to the values of a codec, for fields of rows.

    >>> from headrace.types.codecs._numbers import IntegerCodec
    >>> codec = NullableCodec(IntegerCodec("Long", 64))
    >>> codec.decode(codec.encode([1, None, 3]))
    [1, None, 3]
    """

    def __init__(self, inner: Codec) -> None:
        super().__init__(inner.expected)
        self._inner = inner

    def convert(self, value: Any) -> Any:
        """Return the converted value, or ``None`` for ``None``."""
        return None if value is None else self._inner.convert(value)

    def settled(self, values: Sequence[Any]) -> bool:
        """Return whether all values that are not ``None`` have their type."""
        return self._inner.settled([value for value in values if value is not None])

    def encode(self, values: list[Any]) -> tuple[bytes | None, Any]:
        """Return a mask with a byte per value, 0 for ``None`` (no mask without ``None``), and the other values encoded."""
        present = [value for value in values if value is not None]
        mask = None if len(present) == len(values) else bytes([value is not None for value in values])
        return mask, self._inner.encode(present)

    def decode(self, encoded: tuple[bytes | None, Any]) -> list[Any]:
        """Return the values, with ``None`` where the mask is 0."""
        mask, rest = encoded
        present = self._inner.decode(rest)
        if mask is None:
            return present
        following = iter(present)
        return [next(following) if there else None for there in mask]


class _FieldsCodec(Codec):
    """Records that are split into columns."""

    _fields: tuple[Codec, ...]

    def _columns(self, values: Sequence[Any]) -> Columns | None:
        """Return the columns of records of the declared shape, or ``None`` if a record has another one."""
        raise NotImplementedError

    def settled(self, values: Sequence[Any]) -> bool:
        """Return whether all records have the declared shape and all their fields have their type."""
        columns = self._columns(values)
        if columns is None:
            return False
        return all(field.settled(column) for field, column in zip(self._fields, columns, strict=True))

    def _encoded(self, values: list[Any], columns: Columns | None) -> Any:
        """Return the encoded columns, or the number of records without fields."""
        if not columns:
            return len(values)
        try:
            return [field.encode(column) for field, column in zip(self._fields, columns, strict=True)]  # type: ignore[arg-type]
        except TypeMismatchError:
            self.coerce(values)  # raises the same error with the record that contains it
            raise


class TupleCodec(_FieldsCodec):
    """The codec of ``Types.TUPLE``; converts lists and rows to tuples.

    >>> from headrace.types.codecs._numbers import IntegerCodec
    >>> from headrace.types.codecs._texts import TextCodec
    >>> codec = TupleCodec("(Long, String)", [IntegerCodec("Long", 64), TextCodec("String")])
    >>> codec.decode(codec.encode([(1, "a"), [2, "b"]]))
    [(1, 'a'), (2, 'b')]
    """

    def __init__(self, expected: str, fields: Sequence[Codec]) -> None:
        super().__init__(expected)
        self._fields = tuple(fields)

    def convert(self, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, (tuple, list, Row)) or len(value) != len(self._fields):
            raise mismatch(value, self.expected)
        converted = []
        for position, (field, item) in enumerate(zip(self._fields, value, strict=True)):
            try:
                converted.append(field.convert(item))
            except TypeMismatchError as error:
                raise _located(error, position, self.expected, value) from None
        return value if type(value) is tuple and all(map(is_, converted, value)) else tuple(converted)

    def _columns(self, values: Sequence[Any]) -> Columns | None:
        return columns_of(values, len(self._fields)) if _TUPLE.issuperset(map(type, values)) else None

    def encode(self, values: list[Any]) -> Any:
        """Return the encoded columns."""
        return self._encoded(values, self._columns(values) or self._columns(self.coerce(values)))

    def decode(self, encoded: Any) -> list[Any]:
        if isinstance(encoded, int):
            return [()] * encoded
        return list(
            zip(*[field.decode(column) for field, column in zip(self._fields, encoded, strict=True)], strict=True)
        )


class RowCodec(_FieldsCodec):
    """The codec of ``Types.ROW`` and ``ROW_NAMED``; converts tuples, lists, dicts and objects to rows with the names.

    >>> from headrace.types.codecs._numbers import IntegerCodec
    >>> codec = RowCodec("row", ["a", "b"], [IntegerCodec("Long", 64), IntegerCodec("Long", 64)])
    >>> codec.coerce([(1, None), {"b": 4, "a": 3}])
    [Row(a=1, b=None), Row(a=3, b=4)]
    """

    def __init__(self, expected: str, names: list[str], fields: Sequence[Codec]) -> None:
        """Create the codec of rows with these names and fields; every field may be ``None``."""
        super().__init__(expected)
        self._names = names
        self._fields = tuple(NullableCodec(field) for field in fields)

    def convert(self, value: Any) -> Row:
        """Return a row with the declared names and converted fields."""
        given = self._given(value)
        if len(given) != len(self._fields):
            raise mismatch(value, self.expected)
        converted = []
        for name, field, item in zip(self._names, self._fields, given, strict=True):
            try:
                converted.append(field.convert(item))
            except TypeMismatchError as error:
                raise _located(error, name, self.expected, value) from None
        if isinstance(value, Row):
            if getattr(value, "_fields", None) == self._names and all(map(is_, converted, given)):
                return value
            row = Row.of_kind(value.get_row_kind(), *converted)
        else:
            row = Row(*converted)
        row.set_field_names(self._names)
        return row

    def _given(self, value: Any) -> Sequence[Any]:
        if isinstance(value, Row):
            try:
                return value.get_fields_by_names(self._names)
            except KeyError as error:
                raise mismatch(value, self.expected, error.args[0]) from None
        if isinstance(value, (tuple, list)):
            return value
        named = value if isinstance(value, dict) else getattr(value, "__dict__", None)
        if named is None:
            raise mismatch(value, self.expected)
        return [named.get(name) for name in self._names]

    def _columns(self, values: Sequence[Any]) -> Columns | None:
        # Rows whose names are the declared ones, in order. They usually share one list, which makes count() fast.
        if not _ROW.issuperset(map(type, values)):
            return None
        try:
            if list(map(fields_of, values)).count(self._names) != len(values):
                return None
        except AttributeError:
            return None
        return columns_of(list(map(values_of, values)), len(self._fields))

    def encode(self, values: list[Any]) -> tuple[Any, Any]:
        """Return the kinds of the rows, unless all are inserts, and the encoded columns."""
        columns = self._columns(values)
        if columns is None:
            values = self.coerce(values)
            columns = self._columns(values)
        kinds = list(map(kind_of, values))
        marks = None if kinds.count(RowKind.INSERT) == len(kinds) else bytes([kind.value for kind in kinds])
        return marks, self._encoded(values, columns)

    def decode(self, encoded: tuple[Any, Any]) -> list[Any]:
        marks, columns = encoded
        if isinstance(columns, int):
            rows = named_rows(self._names, [[] for _ in range(columns)])
        else:
            decoded = [field.decode(column) for field, column in zip(self._fields, columns, strict=True)]
            rows = named_rows(self._names, map(list, zip(*decoded, strict=True)))
        if marks is not None:
            for row, mark in zip(rows, marks, strict=True):
                row.set_row_kind(RowKind(mark))
        return rows
