import copy
import pickle

import pytest

from headrace.common import Row, RowKind
from headrace.common.errors import NoJvmError


def test_named_rows_read_by_name_attribute_and_position():
    row = Row(name="Alice", age=11)
    assert (row["name"], row.age, row[1], row[-1], row[0:2]) == ("Alice", 11, 11, 11, ["Alice", 11])
    assert "name" in row
    assert "Alice" not in row
    assert list(row) == ["Alice", 11]
    assert len(row) == 2


def test_unnamed_rows_look_among_their_values():
    row = Row("a", 1)
    assert 1 in row
    assert repr(row) == "<Row('a', 1)>"
    with pytest.raises(TypeError):
        row.as_dict()
    with pytest.raises(AttributeError):
        row["a"]


def test_rows_act_as_classes():
    person = Row("name", "age")
    assert repr(person("Alice", 11)) == "Row(name='Alice', age=11)"
    with pytest.raises(ValueError, match="2 fields"):
        person(1, 2, 3)


def test_writing():
    row = Row(a=1, b=2)
    row["a"] = 5
    row[1] = 6
    assert row == Row(a=5, b=6)
    with pytest.raises(ValueError, match="'c'"):
        row["c"] = 1
    with pytest.raises(KeyError):
        Row(1, 2)["a"] = 1
    with pytest.raises(AttributeError):
        row.a = 7
    assert row.a == 5


def test_missing_names():
    row = Row(a=1)
    with pytest.raises(ValueError, match="'b'"):
        row["b"]
    with pytest.raises(AttributeError, match="'b'"):
        row.b
    assert not hasattr(row, "_anything")


def test_values_and_names_do_not_mix():
    with pytest.raises(ValueError, match="not both"):
        Row(1, a=2)


def test_equality_looks_at_names_values_and_kind():
    assert Row(a=1, b=2) == Row(b=2, a=1)
    assert Row(a=1) != Row(1)
    assert Row(1) != Row(a=1)
    assert Row(a=1) != Row(b=1)
    assert Row(1, 2) != (1, 2)
    assert Row.of_kind(RowKind.DELETE, 1) != Row(1)
    assert Row.of_kind(RowKind.DELETE, a=1).get_row_kind() is RowKind.DELETE


def test_equal_rows_have_equal_hashes():
    assert hash(Row(a=1, b=2, c=3)) == hash(Row(c=3, a=1, b=2))
    assert len({Row(a=1, b=2), Row(b=2, a=1), Row(1, 2)}) == 2


def test_as_dict():
    row = Row(key=1, value=Row(a=[Row(b=2)], c={"d": Row(e=3)}))
    assert row.as_dict()["value"] == Row(a=[Row(b=2)], c={"d": Row(e=3)})
    assert row.as_dict(True) == {"key": 1, "value": {"a": [{"b": 2}], "c": {"d": {"e": 3}}}}


def test_fields_by_names():
    assert Row(a=1, b=2).get_fields_by_names(["b"]) == [2]
    assert Row(1, 2).get_fields_by_names(["x", "y"]) == [1, 2]
    with pytest.raises(KeyError, match="'c'"):
        Row(a=1).get_fields_by_names(["a", "c"])


@pytest.mark.parametrize("row", [Row(1, "a"), Row(a=1, b=None), Row.of_kind(RowKind.UPDATE_BEFORE, a=1), Row()])
def test_rows_copy_and_pickle(row):
    for again in (pickle.loads(pickle.dumps(row)), copy.copy(row), copy.deepcopy(row)):
        assert again == row
        assert again.get_row_kind() is row.get_row_kind()
        assert repr(again) == repr(row)


def test_kinds():
    assert [kind.value for kind in RowKind] == [0, 1, 2, 3]
    assert pickle.loads(pickle.dumps(RowKind.DELETE)) is RowKind.DELETE
    with pytest.raises(NoJvmError):
        RowKind.DELETE.to_j_row_kind()
