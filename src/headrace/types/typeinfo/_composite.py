"""The types of rows and tuples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from headrace.errors import TypeMismatchError
from headrace.types.row import Row, RowKind
from headrace.types.typeinfo._base import TypeInformation, checked_types


class _FieldsTypeInfo(TypeInformation):
    _field_types: list[TypeInformation]

    def get_field_types(self) -> list[TypeInformation]:
        """Return the types of the fields."""
        return self._field_types

    def need_conversion(self) -> bool:
        """Return True."""
        return True

    def from_internal_type(self, obj: Any) -> Any:
        """Return a tuple of the values; a tuple or list is returned as it is."""
        if obj is None or isinstance(obj, (tuple, list)):
            return obj
        return tuple(kind.from_internal_type(value) for kind, value in zip(self._field_types, obj, strict=False))

    def _plain(self, values: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(
            kind.to_internal_type(value) if kind.need_conversion() else value
            for kind, value in zip(self._field_types, values, strict=False)
        )

    def _parts(self) -> tuple[Any, ...]:
        return tuple(self._field_types)

    def _field_texts(self) -> Iterable[str]:
        return map(str, self._field_types)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._field_texts())})"


class TupleTypeInfo(_FieldsTypeInfo):
    """The type of a tuple. Lists and rows are converted to tuples.

    >>> from headrace.common.typeinfo import Types
    >>> TupleTypeInfo([Types.LONG(), Types.STRING()])
    TupleTypeInfo(Long, String)
    """

    def __init__(self, field_types: list[TypeInformation]) -> None:
        self._field_types = checked_types(field_types, "TupleTypeInfo")

    def to_internal_type(self, obj: Any) -> Any:
        """Return the tuple of the fields' internal forms."""
        if obj is None:
            return None
        if not isinstance(obj, (list, tuple, Row)):
            raise TypeMismatchError("The value is not a tuple", seen=obj, expected=str(self))
        return self._plain(obj)


class RowTypeInfo(_FieldsTypeInfo):
    """The type of a ``Row``. Comparisons of types ignore field names.

    >>> from headrace.common.typeinfo import Types
    >>> kind = RowTypeInfo([Types.LONG(), Types.STRING()], ["id", "name"])
    >>> kind
    RowTypeInfo(id: Long, name: String)
    >>> kind == Types.ROW([Types.LONG(), Types.STRING()])
    True
    """

    def __init__(self, field_types: list[TypeInformation], field_names: list[str] | None = None) -> None:
        self._field_types = checked_types(field_types, "RowTypeInfo")
        self._field_names = None if field_names is None else self._checked_names(field_names)

    def _checked_names(self, names: Sequence[str]) -> list[str]:
        if isinstance(names, str) or not all(isinstance(name, str) for name in names):
            raise TypeMismatchError("Field names of a row must be strings", seen=names, expected="a list of str")
        if len(names) != len(self._field_types):
            raise TypeMismatchError(
                "A row type must have as many names as types",
                seen=f"{len(names)} names, {len(self._field_types)} types",
                expected=f"{len(self._field_types)} names",
            )
        if len(set(names)) != len(names):
            raise TypeMismatchError("Field names of a row must be unique", seen=names)
        return list(names)

    def get_field_names(self) -> list[str]:
        """Return the names of the fields; a row without names has ``f0``, ``f1`` and so on.

        >>> from headrace.common.typeinfo import Types
        >>> Types.ROW([Types.LONG(), Types.STRING()]).get_field_names()
        ['f0', 'f1']
        """
        return self._field_names or [f"f{position}" for position in range(len(self._field_types))]

    def get_field_index(self, field_name: str) -> int:
        """Return the position of a field; -1 if an unnamed row type does not have it.

        >>> from headrace.common.typeinfo import Types
        >>> Types.ROW_NAMED(["id", "name"], [Types.LONG(), Types.STRING()]).get_field_index("name")
        1
        """
        names = self.get_field_names()
        if field_name in names:
            return names.index(field_name)
        if self._field_names:
            raise ValueError(f"{self} has no field {field_name!r}")
        return -1

    def to_internal_type(self, obj: Any) -> Any:
        """Return the number of the row's kind and the fields' internal forms as one tuple."""
        if obj is None:
            return None
        kind = RowKind.INSERT
        if isinstance(obj, Row):
            kind = obj.get_row_kind()
            values: Iterable[Any] = obj.get_fields_by_names(self.get_field_names())
        elif isinstance(obj, (tuple, list)):
            values = obj
        elif isinstance(obj, dict) or hasattr(obj, "__dict__"):
            named = obj if isinstance(obj, dict) else vars(obj)
            values = [named.get(name) for name in self.get_field_names()]
        else:
            raise TypeMismatchError("The value is not a row", seen=obj, expected=str(self))
        return (kind.value, *self._plain(values))

    def _field_texts(self) -> Iterable[str]:
        if not self._field_names:
            return super()._field_texts()
        return (f"{name}: {kind}" for name, kind in zip(self._field_names, self._field_types, strict=True))
