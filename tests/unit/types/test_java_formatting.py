import datetime
import struct
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.common import Instant, Row, RowKind, Types
from headrace.common.typeinfo import ExternalTypeInfo, LocalZonedTimestampTypeInfo
from headrace.types.java_formatting import double_text, float_text, string_form

MOMENT = datetime.datetime(2020, 1, 2, 3, 4, 5, 678000)
HOUR_AHEAD = datetime.timezone(datetime.timedelta(hours=1))

# Printed by PyFlink 2.3.
PRINTED = [
    (Types.BOOLEAN(), True, "true"),
    (Types.LONG(), 5, "5"),
    (Types.STRING(), "a", "a"),
    (Types.STRING(), None, "null"),
    (Types.BIG_DEC(), Decimal("1.10"), "1.10"),
    (Types.BIG_DEC(), Decimal("1E+3"), "1E+3"),
    (Types.BIG_DEC(), Decimal("0.000001"), "0.000001"),
    (Types.BIG_DEC(), Decimal("1E-7"), "1E-7"),
    (Types.BIG_DEC(), Decimal("-123.4500E+5"), "-1.234500E+7"),
    (Types.SQL_DATE(), MOMENT.date(), "2020-01-02"),
    (Types.SQL_TIME(), MOMENT.time(), "03:04:05"),
    (Types.SQL_TIMESTAMP(), MOMENT, "2020-01-02 03:04:05.678"),
    (Types.SQL_TIMESTAMP(), MOMENT.replace(microsecond=0), "2020-01-02 03:04:05.0"),
    (Types.SQL_TIMESTAMP(), MOMENT.replace(microsecond=100000), "2020-01-02 03:04:05.1"),
    (Types.INSTANT(), Instant(1, 2), "1970-01-01T00:00:01.000000002Z"),
    (Types.INSTANT(), Instant(-1, 2), "1969-12-31T23:59:59.000000002Z"),
    (Types.INSTANT(), Instant(1577934245, 678000000), "2020-01-02T03:04:05.678Z"),
    (Types.INSTANT(), Instant(1577934245, 678901000), "2020-01-02T03:04:05.678901Z"),
    (Types.INSTANT(), Instant(1577934240, 0), "2020-01-02T03:04:00Z"),
    (LocalZonedTimestampTypeInfo(), MOMENT.replace(tzinfo=datetime.timezone.utc), "2020-01-02T03:04:05.678Z"),
    (LocalZonedTimestampTypeInfo(), MOMENT.replace(tzinfo=HOUR_AHEAD), "2020-01-02T02:04:05.678Z"),
    (Types.TUPLE([Types.LONG(), Types.STRING()]), (1, "a"), "(1,a)"),
    (Types.TUPLE([Types.LONG(), Types.STRING()]), (1, None), "(1,null)"),
    (Types.TUPLE([Types.INT(), Types.DOUBLE(), Types.BOOLEAN()]), (1, 1.5, True), "(1,1.5,true)"),
    (Types.LIST(Types.FLOAT()), [1.5, 1e10], "[1.5, 1.0E10]"),
    (Types.LIST(Types.LIST(Types.INT())), [[1], [2]], "[[1], [2]]"),
    (Types.LIST(Types.STRING()), [], "[]"),
    (Types.MAP(Types.STRING(), Types.INT()), {"a": 1, "b": 2, "zz": 3, "y": 4, "c": None}, "{zz=3, a=1, y=4, b=2, c=null}"),
    (Types.MAP(Types.BOOLEAN(), Types.INT()), {True: 1, False: 2}, "{false=2, true=1}"),
    (Types.MAP(Types.DOUBLE(), Types.INT()), {1.5: 1, 2.5: 2, -3.0: 3}, "{1.5=1, 2.5=2, -3.0=3}"),
    (Types.TUPLE([Types.PRIMITIVE_ARRAY(Types.BYTE())]), (b"ab\xff",), "([97, 98, -1])"),
    (Types.ROW([Types.LONG(), Types.STRING()]), Row(1, "a"), "+I[1,a]"),
    (Types.ROW([Types.LONG(), Types.STRING()]), Row(6, None), "+I[6,None]"),
    (Types.ROW([Types.LONG()]), Row.of_kind(RowKind.UPDATE_AFTER, 7), "+U[7]"),
    (Types.ROW([Types.INT(), Types.ROW([Types.INT()])]), Row(1, Row(f0=2)), "+I[1,Row(f0=2)]"),
    (Types.TUPLE([Types.ROW([Types.INT(), Types.BOOLEAN()])]), (Row(2, None),), "(+I[2, null])"),
    (Types.TUPLE([Types.LIST(Types.ROW([Types.BOOLEAN()]))]), ([Row(True)],), "([+I[true]])"),
    (Types.TUPLE([Types.ROW([Types.TUPLE([Types.INT()] * 2), Types.SQL_TIME()])]),
     (Row((1, 2), MOMENT.time()),), "(+I[(1,2), 03:04:05])"),
    (None, (1, "a", True), "(1, 'a', True)"),
    (None, "abc", "abc"),
    (None, None, "None"),
    (Types.PICKLED_BYTE_ARRAY(), 1.0, "1.0"),
    (ExternalTypeInfo(Types.ROW([Types.INT()])), Row(1), "+I[1]"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value", "text"), PRINTED)
def test_values_are_printed_as_pyflink_does(kind, value, text):
    assert string_form(kind)(value) == text


def test_maps_have_the_order_of_java():
    longs = {k * 1000003: 1 for k in range(20, 0, -1)}
    shown = string_form(Types.MAP(Types.LONG(), Types.INT()))(longs)
    assert shown.startswith("{13000039=1, 8000024=1, 5000015=1, 18000054=1, 16000048=1, 3000009=1, 11000033=1")
    texts = {f"key{k}": 1 for k in range(20, 0, -1)}
    shown = string_form(Types.MAP(Types.STRING(), Types.INT()))(texts)
    assert shown.startswith("{key1=1, key2=1, key5=1, key6=1, key3=1, key4=1, key9=1, key7=1, key8=1, key11=1")


def test_arrays_show_their_elements():
    assert string_form(Types.PRIMITIVE_ARRAY(Types.LONG()))([1, 2]) == "[1, 2]"
    assert string_form(Types.OBJECT_ARRAY(Types.STRING()))(["a", None]) == "[a, null]"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.1, "1.1"),
        (1e10, "1.0E10"),
        (1e-5, "1.0E-5"),
        (100.0, "100.0"),
        (123456789.0, "1.23456789E8"),
        (0.001, "0.001"),
        (0.0009999, "9.999E-4"),
        (1e7, "1.0E7"),
        (9999999.0, "9999999.0"),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (-0.0, "-0.0"),
        (0.0, "0.0"),
        (1e22, "1.0E22"),
        (5e-324, "4.9E-324"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (2.2250738585072014e-308, "2.2250738585072014E-308"),
        (0.1 + 0.2, "0.30000000000000004"),
        (-1234567.125, "-1234567.125"),
        (3, "3.0"),
    ],
)
def test_doubles_as_java_prints_them(number, text):
    assert double_text(number) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.1, "1.1"),
        (1 / 3, "0.33333334"),
        (16777216.0, "1.6777216E7"),
        (3.4e38, "3.4E38"),
        (1e39, "Infinity"),
        (1.4e-45, "1.4E-45"),
        (-1234567.9, "-1234567.9"),
        (0.0009999, "9.999E-4"),
        (-0.0, "-0.0"),
    ],
)
def test_floats_as_java_prints_them(number, text):
    assert float_text(number) == text


@given(st.floats(allow_nan=False))
def test_texts_of_doubles_read_back(number):
    assert float(double_text(number).replace("Infinity", "inf")) == number


@given(st.floats(allow_nan=False, width=32))
def test_texts_of_floats_read_back(number):
    again = float(float_text(number).replace("Infinity", "inf"))
    assert struct.pack("f", again) == struct.pack("f", number)
