"""Declared types: what values become on their way, and how streams of each type are printed and collected."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from headrace.common import Row, RowKind, Types
from headrace.common.errors import TypeMismatchError
from headrace.common.time import Instant
from headrace.testing import CollectingSink

ALL_TYPES = Types.ROW(
    [
        Types.LONG(),
        Types.LONG(),
        Types.SHORT(),
        Types.BOOLEAN(),
        Types.SHORT(),
        Types.INT(),
        Types.FLOAT(),
        Types.DOUBLE(),
        Types.PICKLED_BYTE_ARRAY(),
        Types.STRING(),
        Types.SQL_DATE(),
        Types.SQL_TIME(),
        Types.SQL_TIMESTAMP(),
        Types.BASIC_ARRAY(Types.LONG()),
        Types.BIG_DEC(),
        Types.BIG_DEC(),
    ]
)


def row_of_all(number, short, whole, single, double, date, time, moment, array, *decimals):
    return (
        number, None, number, True, short, whole, single, double, bytearray(b"flink"), "text", date, time, moment,
        array, *map(Decimal, decimals),
    )  # fmt: skip


def test_a_row_of_all_types_through_a_sink(both):
    rows = [
        row_of_all(
            1, 32767, -2147483648, 1.23, 1.98932, datetime.date(2014, 9, 13), datetime.time(12, 0, 0, 123000),
            datetime.datetime(2018, 3, 11, 3, 0, 0, 123000), [1, 2, 3], "1000000000000000000.05",
            "1000000000000000000.05999999999999999899999999999",
        ),
        row_of_all(
            2, 43878, 9147483648, 9.87, 2.98936, datetime.date(2015, 10, 14), datetime.time(11, 2, 2, 234500),
            datetime.datetime(2020, 4, 15, 8, 2, 6, 235000), [2, 4, 6], "2000000000000000000.74",
            "2000000000000000000.06111111111111111111111111111",
        ),
    ]  # fmt: skip
    sink = CollectingSink()
    both.from_collection(rows, ALL_TYPES).add_sink(sink)
    both.execute()
    # A pickled field shows its bytes if the collection has bytes there; other objects are shown as Python does.
    assert sorted(sink.get_results()) == [
        "+I[1, null, 1, true, 32767, -2147483648, 1.23, 1.98932, [102, 108, 105, 110, 107], text, 2014-09-13, 12:00:00, "
        "2018-03-11 03:00:00.123, [1, 2, 3], 1000000000000000000.05, "
        "1000000000000000000.05999999999999999899999999999]",
        "+I[2, null, 2, true, -21658, 557549056, 9.87, 2.98936, [102, 108, 105, 110, 107], text, 2015-10-14, 11:02:02, "
        "2020-04-15 08:02:06.235, [2, 4, 6], 2000000000000000000.74, "
        "2000000000000000000.06111111111111111111111111111]",
    ]


def test_collections_in_a_row(both):
    row_type = Types.ROW(
        [
            Types.INT(), Types.PRIMITIVE_ARRAY(Types.FLOAT()), Types.BASIC_ARRAY(Types.STRING()), Types.SQL_DATE(),
            Types.SQL_TIME(), Types.SQL_TIMESTAMP(), Types.LIST(Types.INT()), Types.MAP(Types.STRING(), Types.INT()),
        ]
    )  # fmt: skip
    row = (
        1, [1.1, 1.2, 1.30], [None, "hi", "flink"], datetime.date(2021, 1, 9), datetime.time(12, 0, 0),
        datetime.datetime(2021, 1, 9, 12, 0, 0, 11000), [1, 2, 3], {"a": 1},
    )  # fmt: skip
    sink = CollectingSink()
    both.from_collection([row], row_type).map(lambda value: value, row_type).add_sink(sink)
    both.execute()
    assert sink.get_results() == [
        "+I[1, [1.1, 1.2, 1.3], [null, hi, flink], 2021-01-09, 12:00:00, 2021-01-09 12:00:00.011, [1, 2, 3], {a=1}]"
    ]


COLLECTED = {
    "untyped tuple": (None, (1, None, 1.23, bytearray(b"x"), [["p"], ["q"]], Decimal("1.05")), None),
    "primitive array": (Types.PRIMITIVE_ARRAY(Types.INT()), [1, 2, 3], None),
    "object arrays": (
        Types.TUPLE([Types.OBJECT_ARRAY(Types.STRING()), Types.OBJECT_ARRAY(Types.DOUBLE())]),
        ([None, "t"], [0.0, 1.0]),
        None,
    ),
    "big int": (Types.BIG_INT(), 2**100, None),
    "map": (Types.MAP(Types.STRING(), Types.INT()), {"a": 1, "b": 2}, None),
    "list of rows": (Types.LIST(Types.ROW([Types.STRING(), Types.INT()])), [("a", 1)], [Row(f0="a", f1=1)]),
    "nested row": (
        Types.ROW([Types.INT(), Types.ROW([Types.STRING(), Types.LIST(Types.INT())])]),
        (1, ("a", [1, 2])),
        Row(f0=1, f1=Row(f0="a", f1=[1, 2])),
    ),
    "tuple of a list": (Types.TUPLE([Types.INT(), Types.STRING()]), [1, "a"], (1, "a")),
    "named row": (Types.ROW_NAMED(["x", "y"], [Types.INT(), Types.INT()]), (1, 2), Row(x=1, y=2)),
    "bytes": (Types.PRIMITIVE_ARRAY(Types.BYTE()), b"ab", None),
    "instant": (Types.INSTANT(), Instant.of_epoch_milli(1500), None),
    "char": (Types.CHAR(), "x", None),
}


@pytest.mark.parametrize("name", COLLECTED)
def test_collected_values(both, collected, name):
    type_info, value, expected = COLLECTED[name]
    assert collected(both.from_collection([value], type_info)) == [value if expected is None else expected]


CONVERTED = {
    "float to whole": (Types.INT(), 1.5, 1),
    "whole to double": (Types.DOUBLE(), 1, 1.0),
    "whole to float": (Types.FLOAT(), 16777217, 16777216.0),
    "bool to whole": (Types.INT(), True, 1),
    "milliseconds": (
        Types.SQL_TIMESTAMP(),
        datetime.datetime(2020, 1, 1, 1, 1, 1, 123456),
        datetime.datetime(2020, 1, 1, 1, 1, 1, 123000),
    ),
    "row to tuple": (Types.TUPLE([Types.STRING(), Types.INT()]), Row("a", 1), ("a", 1)),
    "tuple to row": (Types.ROW([Types.STRING(), Types.INT()]), ("a", 1), Row(f0="a", f1=1)),
    "list to row": (Types.ROW([Types.STRING(), Types.INT()]), ["a", 1], Row(f0="a", f1=1)),
    "nothing in a row": (Types.ROW([Types.STRING(), Types.INT()]), Row(None, None), Row(f0=None, f1=None)),
}


@pytest.mark.parametrize("name", CONVERTED)
def test_results_of_functions_take_the_declared_type(both, collected, name):
    type_info, value, expected = CONVERTED[name]
    (result,) = collected(both.from_collection([0]).map(lambda _: value, type_info))
    assert result == expected and type(result) is type(expected)


REFUSED = {
    "text as number": (Types.INT(), "x"),
    "number as text": (Types.STRING(), 1),
    "too large": (Types.INT(), 2**31),
    "much too small": (Types.SHORT(), -(2**40)),
    "no byte": (Types.BYTE(), 128),
    "nothing as number": (Types.INT(), None),
    "nothing as row": (Types.ROW([Types.INT()]), None),
    "too few fields": (Types.ROW([Types.INT(), Types.INT()]), (1,)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_values_that_do_not_fit_are_refused(both, name):
    type_info, value = REFUSED[name]
    both.from_collection([0]).map(lambda _: value, type_info).name("declared").print()
    with pytest.raises(TypeMismatchError, match="declared"):
        both.execute()


def test_values_of_a_collection_wrap_as_javas_do(both, collected):
    assert sorted(collected(both.from_collection([2**31, 1], Types.INT()))) == [-(2**31), 1]


# ---------------------------------------------------------------------- rows


def test_rows_of_a_type_show_their_fields(both, collected):
    rows = both.from_collection([("a", 1)], Types.ROW([Types.STRING(), Types.INT()]))
    assert collected(rows.map(lambda row: (str(row), row.f0, row[1]))) == [("Row(f0='a', f1=1)", "a", 1)]


def test_named_rows(both, collected):
    rows = both.from_collection([("a", 1)], Types.ROW_NAMED(["x", "y"], [Types.STRING(), Types.INT()]))
    seen = rows.map(lambda row: (str(row), row.x, row["y"], row.as_dict(), str(row.get_row_kind())))
    assert collected(seen) == [("Row(x='a', y=1)", "a", 1, {"x": "a", "y": 1}, "+I")]


def test_rows_of_the_program(both, collected):
    rows = both.from_collection([("a", 1)])
    assert collected(rows.map(lambda v: Row(*v)).map(str)) == ["<Row('a', 1)>"]
    assert collected(rows.map(lambda v: Row(n=v[0], m=v[1])).map(str)) == ["Row(n='a', m=1)"]


def test_row_kinds_travel(both, collected):
    def deleted(value):
        row = Row(*value)
        row.set_row_kind(RowKind.DELETE)
        return row

    rows = both.from_collection([("a", 1)]).map(deleted, Types.ROW([Types.STRING(), Types.INT()]))
    assert collected(rows.map(lambda row: str(row.get_row_kind()))) == ["-D"]


# ---------------------------------------------------------------------- print

PRINTED = {
    "bytes in a pickled field": (Types.TUPLE([Types.PICKLED_BYTE_ARRAY()]), (b"ab\xff",), "([97, 98, -1])"),
    "an object in a pickled field": (Types.TUPLE([Types.PICKLED_BYTE_ARRAY()]), ({"a": 1},), "({'a': 1})"),
    "no negative zero": (Types.BIG_DEC(), Decimal("-0.00"), "0.00"),
    "untyped": (None, ("a", 1), "('a', 1)"),
    "text": (Types.STRING(), "a", "a"),
    "bool": (Types.BOOLEAN(), True, "true"),
    "double": (Types.DOUBLE(), 1e10, "1.0E10"),
    "float": (Types.FLOAT(), 1.1, "1.1"),
    "tuple": (Types.TUPLE([Types.STRING(), Types.INT()]), ("a", 1), "(a,1)"),
    "row": (Types.ROW([Types.STRING(), Types.INT()]), ("a", 1), "+I[a,1]"),
    "row with nothing": (Types.ROW([Types.STRING(), Types.INT()]), (None, 1), "+I[None,1]"),
    "row in a tuple": (Types.TUPLE([Types.ROW([Types.STRING(), Types.INT()])]), [(None, 1)], "(+I[null, 1])"),
    "list": (Types.LIST(Types.INT()), [1, 2], "[1, 2]"),
    "map": (Types.MAP(Types.STRING(), Types.INT()), {"a": 1}, "{a=1}"),
    "date": (Types.SQL_DATE(), datetime.date(2021, 1, 9), "2021-01-09"),
    "timestamp": (Types.SQL_TIMESTAMP(), datetime.datetime(2021, 1, 9, 12, 0, 0, 11000), "2021-01-09 12:00:00.011"),
}


@pytest.mark.parametrize("name", PRINTED)
def test_print(make_env, capsys, name):
    type_info, value, text = PRINTED[name]
    env = make_env(1)
    env.from_collection([value], type_info).print()
    env.execute()
    assert capsys.readouterr().out == f"{text}\n"


def test_print_says_which_subtask(env, capsys):
    env.from_collection([1, 2]).print("numbers")
    env.execute()
    assert sorted(capsys.readouterr().out.split()) == ["1", "2", "numbers:1>", "numbers:2>"]


def test_get_type(env):
    row = Types.ROW([Types.STRING(), Types.INT()])
    assert str(env.from_collection([("a", 1)], row).get_type()) == "RowTypeInfo(f0: String, f1: Integer)"
    assert env.from_collection([("a", 1)], row).get_type() == row
    assert env.from_collection([1]).get_type() == Types.PICKLED_BYTE_ARRAY()
    assert env.from_collection([1]).map(str, Types.STRING()).filter(bool).get_type() == Types.STRING()
    keyed = env.from_collection([1], Types.INT()).key_by(str, Types.STRING())
    assert str(keyed.get_type()) == "RowTypeInfo(f0: String, f1: Integer)"


def test_big_numbers_are_as_big_as_they_are(both, collected):
    decimals = [Decimal("1." + "123456789" * 7), Decimal("-" + "9" * 60), Decimal("1E-50"), Decimal("2.50")]
    whole = [2**63, -(10**80), 0]
    through = both.from_collection(decimals, Types.BIG_DEC()).rebalance().map(lambda value: value, Types.BIG_DEC())
    assert sorted(map(str, collected(through))) == sorted(map(str, decimals))
    through = both.from_collection(whole, Types.BIG_INT()).rebalance().map(lambda value: value + 1, Types.BIG_INT())
    assert sorted(collected(through)) == sorted(value + 1 for value in whole)


def test_types_inside_of_types(both, collected):
    nested = Types.MAP(
        Types.STRING(),
        Types.LIST(Types.ROW_NAMED(["at", "many"], [Types.SQL_DATE(), Types.OBJECT_ARRAY(Types.FLOAT())])),
    )
    value = {"a": [Row(at=datetime.date(2024, 2, 29), many=[0.1, None, 2.0])], "b": []}
    (seen,) = collected(both.from_collection([value], nested).rebalance().map(lambda element: element, nested))
    (row,) = seen["a"]
    assert seen["b"] == [] and row.at == datetime.date(2024, 2, 29)
    assert row["many"] == [0.10000000149011612, None, 2.0]


def test_a_list_is_as_good_as_a_tuple(both, collected):
    pair = Types.TUPLE([Types.INT(), Types.STRING()])
    pairs = both.from_collection([[1, "a"], (2, "b")], pair).map(lambda value: [value[0] + 1, value[1]], pair)
    assert sorted(collected(pairs)) == [(2, "a"), (3, "b")]


def test_a_moment_keeps_its_nanoseconds(both, collected):
    moments = [Instant.of_epoch_milli(-1), Instant(1_700_000_000, 123_456_789)]
    through = both.from_collection(moments, Types.INSTANT()).rebalance().map(lambda moment: moment, Types.INSTANT())
    assert sorted(collected(through), key=str) == sorted(moments, key=str)
