import datetime
import pickle

import pytest

from headrace.common import Instant, Row, RowKind, Types
from headrace.common.errors import NoJvmError, TypeMismatchError
from headrace.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    ExternalTypeInfo,
    LocalTimeTypeInfo,
    LocalZonedTimestampTypeInfo,
    SqlTimeTypeInfo,
)

# The texts are those that PyFlink prints.
EVERY_TYPE = {
    "String": Types.STRING(),
    "Byte": Types.BYTE(),
    "Boolean": Types.BOOLEAN(),
    "Short": Types.SHORT(),
    "Integer": Types.INT(),
    "Long": Types.LONG(),
    "Float": Types.FLOAT(),
    "Double": Types.DOUBLE(),
    "Char": Types.CHAR(),
    "BigInteger": Types.BIG_INT(),
    "BigDecimal": Types.BIG_DEC(),
    "Instant": Types.INSTANT(),
    "DateTypeInfo": Types.SQL_DATE(),
    "TimeTypeInfo": Types.SQL_TIME(),
    "TimestampTypeInfo": Types.SQL_TIMESTAMP(),
    "PickledByteArrayTypeInfo": Types.PICKLED_BYTE_ARRAY(),
    "PrimitiveArrayTypeInfo<Integer>": Types.PRIMITIVE_ARRAY(Types.INT()),
    "BasicArrayTypeInfo<String>": Types.BASIC_ARRAY(Types.STRING()),
    "ObjectArrayTypeInfo<TupleTypeInfo(Integer)>": Types.OBJECT_ARRAY(Types.TUPLE([Types.INT()])),
    "ListTypeInfo<Long>": Types.LIST(Types.LONG()),
    "MapTypeInfo<String, ListTypeInfo<Long>>": Types.MAP(Types.STRING(), Types.LIST(Types.LONG())),
    "TupleTypeInfo(Integer, String)": Types.TUPLE([Types.INT(), Types.STRING()]),
    "RowTypeInfo(Integer, String)": Types.ROW([Types.INT(), Types.STRING()]),
    "RowTypeInfo(a: Integer, b: Double)": Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.DOUBLE()]),
    "LocalZonedTimestampTypeInfo": LocalZonedTimestampTypeInfo(),
    "LocalTimeTypeInfo<LOCAL_TIME>": LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_TIME),
    "ExternalTypeInfo<Integer>": ExternalTypeInfo(Types.INT()),
}


@pytest.mark.parametrize(("text", "kind"), EVERY_TYPE.items())
def test_text_hash_and_pickle(text, kind):
    assert str(kind) == text
    again = pickle.loads(pickle.dumps(kind))
    assert again == kind
    assert hash(again) == hash(kind)
    assert str(again) == text
    with pytest.raises(NoJvmError, match="no JVM type"):
        kind.get_java_type_info()


def test_all_types_differ():
    assert len(set(EVERY_TYPE.values())) == len(EVERY_TYPE)


def test_types_are_no_other_things():
    assert Types.INT() != "Integer"
    assert Types.INT() != BasicType.INT
    assert Types.MAP(Types.INT(), Types.INT()) != Types.LIST(Types.INT())


def test_names_do_not_count_in_comparisons():
    named = Types.ROW_NAMED(["a"], [Types.INT()])
    assert named == Types.ROW([Types.INT()])
    assert hash(named) == hash(Types.ROW([Types.INT()]))


def test_basic_instant_equals_the_special_one():
    assert BasicTypeInfo(BasicType.INSTANT) == Types.INSTANT()
    assert hash(BasicTypeInfo(BasicType.INSTANT)) == hash(Types.INSTANT())


def test_row_fields():
    named = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])
    assert named.get_field_names() == ["a", "b"]
    assert named.get_field_types() == [Types.INT(), Types.STRING()]
    assert named.get_field_index("b") == 1
    with pytest.raises(ValueError, match="'c'"):
        named.get_field_index("c")
    unnamed = Types.ROW([Types.INT(), Types.STRING()])
    assert (unnamed.get_field_names(), unnamed.get_field_index("x")) == (["f0", "f1"], -1)
    assert str(unnamed) == "RowTypeInfo(Integer, String)"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Types.TUPLE([Types.INT]), r"Types.INT\(\)"),
        (lambda: Types.TUPLE(Types.INT()), "list of field types"),
        (lambda: Types.TUPLE([int]), "Field 0"),
        (lambda: Types.LIST(None), "element type"),
        (lambda: Types.MAP(Types.INT(), "x"), "value type"),
        (lambda: Types.ROW_NAMED(["a"], []), "as many names"),
        (lambda: Types.ROW_NAMED(["a", "a"], [Types.INT()] * 2), "unique"),
        (lambda: Types.ROW_NAMED("a", [Types.INT()]), "strings"),
        (lambda: Types.PRIMITIVE_ARRAY(Types.STRING()), "OBJECT_ARRAY"),
        (lambda: Types.BASIC_ARRAY(Types.TUPLE([Types.INT()])), "OBJECT_ARRAY"),
        (lambda: BasicTypeInfo("Long"), "BasicType"),
    ],
)
def test_mistakes_are_named(wrong, message):
    with pytest.raises(TypeMismatchError, match=message):
        wrong()


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Types.SQL_DATE(), datetime.date(2020, 2, 29)),
        (Types.SQL_TIME(), datetime.time(23, 59, 59, 123456)),
        (Types.SQL_TIMESTAMP(), datetime.datetime(2020, 2, 29, 1, 2, 3, 456789)),
        (Types.INSTANT(), Instant.of_epoch_milli(1577934245678)),
        (Types.LONG(), 5),
    ],
)
def test_plain_forms_come_back(kind, value):
    assert kind.from_internal_type(kind.to_internal_type(value)) == value


def test_plain_form_of_aware_times():
    zone = datetime.timezone(datetime.timedelta(hours=2))
    assert SqlTimeTypeInfo.TIME().to_internal_type(datetime.time(3, tzinfo=zone)) == 3_600_000_000
    moment = datetime.datetime(1970, 1, 1, 2, tzinfo=zone)
    assert SqlTimeTypeInfo.TIMESTAMP().to_internal_type(moment) == 0


def test_plain_form_of_rows_and_tuples():
    kind = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.SQL_DATE()])
    day = datetime.date(1970, 1, 2)
    expected = (0, 5, 1)
    for value in (Row(5, day), Row(b=day, a=5), (5, day), [5, day], {"b": day, "a": 5}, type("T", (), {})()):
        if not isinstance(value, (Row, tuple, list, dict)):
            value.a, value.b = 5, day
        assert kind.to_internal_type(value) == expected
    assert kind.to_internal_type(Row.of_kind(RowKind.DELETE, 5, day)) == (3, 5, 1)
    assert kind.to_internal_type(None) is None
    assert Types.TUPLE([Types.SQL_DATE()]).to_internal_type([day]) == (1,)
    assert Types.TUPLE([Types.SQL_DATE()]).from_internal_type(iter([1])) == (day,)
    with pytest.raises(TypeMismatchError):
        kind.to_internal_type(5)
