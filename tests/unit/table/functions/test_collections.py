"""Functions on arrays, maps and rows, by hand."""

from __future__ import annotations

import pytest
from tests.unit.table.functions.calling import call, result_type

from headrace.table.errors import SqlRuntimeError
from headrace.table.functions.definition import Argument, ArgumentError
from headrace.types.logical_types import ArrayType, CharType, IntType, MapType, VarCharType
from headrace.types.sql_map import SqlMap


def ints(*values: int | None) -> Argument:
    return Argument(ArrayType(IntType(), is_nullable=False), values)


def words(**entries: int) -> Argument:
    return Argument(MapType(VarCharType(), IntType(), is_nullable=False), SqlMap(entries))


def test_construction_and_access() -> None:
    assert call("ARRAY", 1, 2, None) == (1, 2, None)
    assert result_type("ARRAY", "a", "bcd") == ArrayType(VarCharType(3, is_nullable=False), is_nullable=False)
    assert call("MAP", "a", 1, "b", 2) == {"a": 1, "b": 2}
    assert call("ROW", 1, "x") == (1, "x")
    assert call("ITEM", ints(1, 2), 2) == 2 and call("ITEM", ints(1, 2), 3) is None
    assert call("ITEM", words(a=1), "a") == 1 and call("ITEM", words(a=1), "b") is None
    with pytest.raises(ArgumentError, match="starts at 1"):
        call("ITEM", ints(1), 0)


def test_counting() -> None:
    assert call("CARDINALITY", ints(1, None)) == 2 and call("CARDINALITY", words(a=1)) == 1
    assert call("ELEMENT", ints(7)) == 7 and call("ELEMENT", ints()) is None
    with pytest.raises(SqlRuntimeError, match="one element"):
        call("ELEMENT", ints(1, 2))


def test_arrays() -> None:
    some = ints(3, None, 1, 3, 2)
    assert call("ARRAY_CONTAINS", some, 1) is True and call("ARRAY_CONTAINS", some, None) is True
    assert call("ARRAY_POSITION", some, 1) == 3 and call("ARRAY_POSITION", some, 9) == 0
    assert call("ARRAY_DISTINCT", some) == (3, None, 1, 2)
    assert call("ARRAY_REMOVE", some, None) == (3, 1, 3, 2)
    assert call("ARRAY_REVERSE", some) == (2, 3, 1, None, 3)
    assert call("ARRAY_SORT", some) == (None, 1, 2, 3, 3)
    assert call("ARRAY_SORT", some, False) == (3, 3, 2, 1, None)
    assert call("ARRAY_SORT", some, False, True) == (None, 3, 3, 2, 1)
    assert call("ARRAY_MAX", some) == 3 and call("ARRAY_MIN", some) == 1 and call("ARRAY_MIN", ints()) is None
    assert call("ARRAY_UNION", some, ints(4, None)) == (3, None, 1, 2, 4)
    assert call("ARRAY_EXCEPT", some, ints(3)) == (None, 1, 2)
    assert call("ARRAY_INTERSECT", some, ints(2, 3)) == (3, 2)
    assert call("ARRAY_CONCAT", ints(1), ints(2), ints(1)) == (1, 2, 1)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [(1, 2, (1, 2)), (-2, -1, (3, 4)), (0, 0, (1,)), (3, 2, ()), (-9, 9, (1, 2, 3, 4)), (2, -2, (2, 3)), (5, 9, ())],
)
def test_slices(start: int, end: int, expected: tuple[int, ...]) -> None:
    assert call("ARRAY_SLICE", ints(1, 2, 3, 4), start, end) == expected


def test_joining() -> None:
    texts = Argument(ArrayType(CharType(1), is_nullable=False), ("a", None, "b"))
    assert call("ARRAY_JOIN", texts, "-") == "a-b" and call("ARRAY_JOIN", texts, "-", "?") == "a-?-b"


def test_maps() -> None:
    assert call("MAP_KEYS", words(a=1, b=2)) == ("a", "b") and call("MAP_VALUES", words(a=1)) == (1,)
    assert call("MAP_ENTRIES", words(a=1)) == (("a", 1),)
    assert call("MAP_FROM_ARRAYS", ints(1, 2), ints(3, 4)) == {1: 3, 2: 4}
    assert call("MAP_UNION", words(a=1, b=2), words(a=3)) == {"a": 3, "b": 2}
    with pytest.raises(SqlRuntimeError, match="1 keys and 2 values"):
        call("MAP_FROM_ARRAYS", ints(1), ints(3, 4))
