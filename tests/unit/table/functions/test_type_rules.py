"""Common types, implicit casts and the text of types follow Flink's rules."""

import itertools

import pytest

from headrace.table.functions.casts import can_cast
from headrace.table.functions.decimals import (
    addition_type,
    average_type,
    division_type,
    fitted,
    modulo_type,
    multiplication_type,
    rounding_type,
    sum_type,
)
from headrace.table.functions.type_rules import can_cast_implicitly, common_type, comparison_type, sql_text
from headrace.types.data_types import DataTypes
from headrace.types.logical_types import DayTimeIntervalType, NullType, TimeAttribute, YearMonthIntervalType

D = DataTypes
NULL = NullType()


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ([D.INT(), D.BIGINT()], D.BIGINT()),
        ([D.TINYINT().not_null(), D.SMALLINT().not_null()], D.SMALLINT().not_null()),
        ([D.INT().not_null(), D.BIGINT()], D.BIGINT()),
        ([D.INT(), D.DECIMAL(4, 2)], D.DECIMAL(12, 2)),
        ([D.DECIMAL(10, 0), D.DECIMAL(5, 4)], D.DECIMAL(14, 4)),
        ([D.DECIMAL(38, 0), D.DECIMAL(38, 10)], D.DECIMAL(38, 10)),
        ([D.INT(), D.FLOAT()], D.FLOAT()),
        ([D.FLOAT(), D.DOUBLE()], D.DOUBLE()),
        ([D.DECIMAL(5, 2), D.FLOAT()], D.DOUBLE()),
        ([D.CHAR(3), D.CHAR(3)], D.CHAR(3)),
        ([D.CHAR(3), D.CHAR(5)], D.VARCHAR(5)),
        ([D.CHAR(3), D.STRING()], D.STRING()),
        ([D.BINARY(1), D.BINARY(2)], D.VARBINARY(2)),
        ([D.TIMESTAMP(3), D.TIMESTAMP(6)], D.TIMESTAMP(6)),
        ([D.DATE(), D.TIMESTAMP(3)], D.TIMESTAMP(3)),
        ([NULL, D.INT().not_null()], D.INT()),
        ([D.ARRAY(D.INT()), D.ARRAY(D.BIGINT())], D.ARRAY(D.BIGINT())),
        ([D.MAP(D.INT(), D.INT()), D.MAP(D.INT(), D.DOUBLE())], D.MAP(D.INT(), D.DOUBLE())),
        (
            [D.ROW([D.FIELD("a", D.INT())]), D.ROW([D.FIELD("b", D.BIGINT())])],
            D.ROW([D.FIELD("a", D.BIGINT())]),
        ),
        ([YearMonthIntervalType("YEAR"), YearMonthIntervalType("MONTH")], YearMonthIntervalType("YEAR TO MONTH")),
        (
            [DayTimeIntervalType("DAY", 6), DayTimeIntervalType("SECOND", 3)],
            DayTimeIntervalType("DAY TO SECOND", 6),
        ),
        ([D.INT(), D.STRING()], None),
        ([D.BOOLEAN(), D.INT()], None),
        ([D.ARRAY(D.INT()), D.INT()], None),
        ([D.ROW([D.FIELD("a", D.INT())]), D.ROW([])], None),
        ([NULL, NULL], None),
    ],
)
def test_common_type(types, expected):
    assert common_type(types) == expected
    if expected is not None and not isinstance(types[0], type(D.ROW([]))):
        assert common_type(types[::-1]) == expected


def test_time_attributes_are_lost_in_a_common_type():
    rowtime = D.TIMESTAMP(3)
    marked = type(rowtime)(3, time_attribute=TimeAttribute.ROWTIME)
    assert common_type([marked, marked]).time_attribute is None


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (D.INT(), D.DOUBLE(), D.DOUBLE()),
        (D.STRING(), D.DATE(), D.DATE()),
        (D.INT(), D.STRING(), None),
        (NULL, D.INT(), D.INT()),
        (D.ARRAY(D.INT()), D.ARRAY(D.INT()), D.ARRAY(D.INT())),
    ],
)
def test_comparison_type(left, right, expected):
    assert comparison_type(left, right) == expected


def test_implicit_casts_widen():
    integers = [D.TINYINT(), D.SMALLINT(), D.INT(), D.BIGINT()]
    for narrow, wide in itertools.pairwise(integers):
        assert can_cast_implicitly(narrow, wide)
        assert not can_cast_implicitly(wide, narrow)
    assert can_cast_implicitly(D.CHAR(3), D.STRING())
    assert not can_cast_implicitly(D.STRING(), D.INT())
    assert not can_cast_implicitly(D.INT(), D.STRING())
    assert can_cast_implicitly(NULL, D.ARRAY(D.INT()))
    assert can_cast_implicitly(D.ARRAY(D.INT()), D.ARRAY(D.BIGINT()))
    assert can_cast_implicitly(D.TIMESTAMP(3), D.DATE())


def test_explicit_casts():
    assert can_cast(D.DOUBLE(), D.INT())
    assert can_cast(D.ARRAY(D.INT()), D.STRING())
    assert not can_cast(D.DATE(), D.INT())
    assert not can_cast(D.INT(), D.DATE())
    assert not can_cast(D.ARRAY(D.INT()), D.MAP(D.INT(), D.INT()))


@pytest.mark.parametrize(
    ("data_type", "text"),
    [
        (D.INT().not_null(), "INT NOT NULL"),
        (D.STRING(), "STRING"),
        (D.VARCHAR(10), "VARCHAR(10)"),
        (D.CHAR(3).not_null(), "CHAR(3) NOT NULL"),
        (D.BYTES(), "BYTES"),
        (D.VARBINARY(3), "VARBINARY(3)"),
        (D.DECIMAL(10, 2), "DECIMAL(10, 2)"),
        (D.TIME(0), "TIME(0)"),
        (D.TIMESTAMP(3), "TIMESTAMP(3)"),
        (D.TIMESTAMP_LTZ(6), "TIMESTAMP_LTZ(6)"),
        (D.ARRAY(D.INT().not_null()), "ARRAY<INT NOT NULL>"),
        (D.MAP(D.STRING(), D.DOUBLE()), "MAP<STRING, DOUBLE>"),
        (D.MULTISET(D.INT()), "MULTISET<INT>"),
        (D.ROW([D.FIELD("a", D.INT()), D.FIELD("b c", D.DATE())]).not_null(), "ROW<`a` INT, `b c` DATE> NOT NULL"),
        (NULL, "NULL"),
    ],
)
def test_sql_text(data_type, text):
    assert sql_text(data_type) == text


def test_decimal_types():
    d = D.DECIMAL
    assert addition_type(d(38, 8), d(32, 8)) == d(38, 7)
    assert multiplication_type(d(20, 10), d(20, 10)) == d(38, 17)
    assert division_type(d(38, 10), d(38, 10)) == d(38, 6)
    assert modulo_type(d(10, 2), d(5, 4)) == d(5, 4)
    assert sum_type(d(5, 2)) == d(38, 2)
    assert average_type(d(5, 2)) == d(38, 6)
    assert rounding_type(d(10, 5), 2) == d(8, 2)


def test_numbers_that_do_not_fit_become_null():
    from decimal import Decimal

    assert fitted(Decimal("999.995"), 5, 2) is None
    assert fitted(Decimal("1e300"), 38, 10) is None
    assert str(fitted(Decimal("-0.001"), 5, 2)) == "0.00"
    assert str(fitted(Decimal("1e-300"), 5, 2)) == "0.00"
