"""Columns compute what rows compute: for every function with a column form, and for random expressions."""

import math
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.table.programs.expressions import call, cast, literal
from tests.unit.table.programs.test_row_code import INPUT, counting, numbers, outcome, rows, truths

from headrace.operators.table.batches import TableColumns
from headrace.table.errors import SqlRuntimeError
from headrace.table.functions.decimals import EXACT
from headrace.table.functions.definition import ArgumentError, Session
from headrace.table.functions.registry import scalar_functions
from headrace.table.plan.rex import Call, InputRef
from headrace.table.programs import Program, Scalar
from headrace.table.programs.calls import call_site
from headrace.types.logical_types import (
    BigIntType,
    BooleanType,
    CharType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    RowField,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
)


def integers(bits):
    edge = 2 ** (bits - 1)
    return st.one_of(st.integers(-3, 3), st.integers(-edge, edge - 1), st.sampled_from([-edge, edge - 1]))


def decimals(precision, scale):
    limit = 10**precision - 1
    return st.integers(-limit, limit).map(lambda number: Decimal(number).scaleb(-scale, EXACT))


doubles = st.one_of(
    st.floats(), st.sampled_from([0.0, -0.0, math.inf, -math.inf, 1e19, -1e19, 2.0**63, -(2.0**63), 2147483648.0, 0.5])
)
micros = st.integers(-(10**15), 10**16)
VALUES = {
    BooleanType(): st.booleans(),
    TinyIntType(): integers(8),
    SmallIntType(): integers(16),
    IntType(): integers(32),
    BigIntType(): integers(64),
    FloatType(): st.floats(width=32),
    DoubleType(): doubles,
    DecimalType(5, 2): decimals(5, 2),
    DecimalType(12, 0): decimals(12, 0),
    DecimalType(38, 10): decimals(38, 10),
    CharType(3): st.text(min_size=3, max_size=3),
    VarCharType(): st.one_of(st.text(max_size=4), st.sampled_from(["1", "abc", " 2 "])),
    VarBinaryType(): st.binary(max_size=3),
    DateType(): st.integers(-10000, 40000),
    TimeType(3): st.integers(0, 86_399_999),
    TimestampType(3): micros.map(lambda value: value // 1000 * 1000),
    TimestampType(6): micros,
    LocalZonedTimestampType(3): micros.map(lambda value: value // 1000 * 1000),
    DayTimeIntervalType("DAY TO SECOND", 3): st.integers(-(10**10), 10**10),
    YearMonthIntervalType("MONTH"): st.integers(-1000, 1000),
}
VALUES |= {each.not_null(): values for each, values in list(VALUES.items())}
TYPES = list(VALUES)


def nullable(data_type):
    return st.one_of(st.none(), VALUES[data_type]) if data_type.is_nullable else VALUES[data_type]


def normal(value):
    """Return a value that can be compared: NaN is equal to NaN, 0.0 is not -0.0."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else (value, math.copysign(1.0, value))
    return (type(value).__name__, str(value)) if isinstance(value, Decimal) else value


def both(program, row_type, rows):
    """Return the results of a program over rows and over columns."""
    batch = TableColumns(row_type).batch(rows)
    result_type = RowType(tuple(RowField(f"{i}", each.type) for i, each in enumerate(program.expressions)))
    codec = TableColumns(result_type)

    def by_columns():
        found = program.columns(batch)
        assert found.schema.types == codec.schema.types
        return codec.rows(found)

    return outcome(program.rows, rows), outcome(by_columns)


def check_same(program, row_type, rows):
    by_rows, by_columns = both(program, row_type, rows)
    if isinstance(by_rows, str) or isinstance(by_columns, str):
        assert isinstance(by_rows, str) and isinstance(by_columns, str)  # which row fails first is not defined
    else:
        assert [[normal(value) for value in row] for row in by_rows] == [
            [normal(value) for value in row] for row in by_columns
        ]


ARITY = {"BETWEEN": 3, "NOT BETWEEN": 3, "BETWEEN SYMMETRIC": 3, "NOT BETWEEN SYMMETRIC": 3, "IN": 3, "NOT IN": 3}
UNARY = {"NOT", "-", "+", "ABS", "SIGN", "CEIL", "FLOOR"} | {
    name for name in scalar_functions() if name.startswith("IS ")
}
OURS = [
    *"= <> < <= > >= + - * / % AND OR NOT ABS SIGN CEIL FLOOR COALESCE NULLIF GREATEST LEAST".split(),
    *("IS DISTINCT FROM", "IS NOT DISTINCT FROM", "IS NULL", "IS NOT NULL", "IS TRUE", "IS NOT TRUE", "IS FALSE"),
    *("IS NOT FALSE", "IS UNKNOWN", "IS NOT UNKNOWN", *ARITY),
]


@pytest.mark.parametrize("name", OURS)
@settings(max_examples=15, deadline=None)
@given(st.data())
def test_the_column_form_of_a_function_equals_its_row_form(name, data):
    arity = ARITY.get(name) or (1 if name in UNARY and name not in "+-" and "DISTINCT" not in name else 2)
    types, expression = None, None
    for _ in range(20):
        first = data.draw(st.sampled_from(TYPES))
        others = st.one_of(st.just(first), st.sampled_from(TYPES))
        types = [first, *(data.draw(others) for _ in range(arity - 1))]
        arguments = [InputRef(each, place) for place, each in enumerate(types)]
        if arity > 1 and data.draw(st.booleans()):
            arguments[1:] = [literal(data.draw(nullable(each)), each) for each in types[1:]]
        try:
            expression = call(name, *arguments)
            break
        except ArgumentError:
            continue
    if expression is None:
        return
    row_type = RowType(tuple(RowField(f"{place}", each) for place, each in enumerate(types)))
    rows = data.draw(st.lists(st.tuples(*map(nullable, types)), max_size=5))
    check_same(Program([expression], None, row_type), row_type, rows)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_the_column_form_of_a_cast_equals_its_row_form(data):
    source = data.draw(st.sampled_from(TYPES))
    target = data.draw(st.sampled_from([each for each in TYPES if each.is_nullable]))
    try:
        expression = cast(InputRef(source, 0), target)
    except ArgumentError:
        return
    session = Session(time_zone=data.draw(st.sampled_from(["UTC", "Europe/Berlin", "GMT+05:30"])))
    row_type = RowType((RowField("a", source),))
    rows = data.draw(st.lists(st.tuples(nullable(source)), max_size=5))
    check_same(Program([expression], None, row_type, session), row_type, rows)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.one_of(numbers, truths), min_size=1, max_size=3), st.one_of(st.none(), truths), rows)
def test_random_expressions_over_columns_equal_those_over_rows(expressions, condition, rows):
    check_same(Program(expressions, condition, INPUT), INPUT, rows)


def test_the_basic_operators_have_column_forms():
    for name, *types in (
        ("+", BigIntType(), BigIntType()),
        ("*", DecimalType(10, 2), DecimalType(5, 2)),
        ("/", IntType(), IntType()),
        ("-", TimestampType(3), DayTimeIntervalType("SECOND", 3)),
        ("=", VarCharType(), VarCharType()),
        ("AND", BooleanType(), BooleanType()),
        ("IS NULL", VarCharType()),
    ):
        expression = call(name, *[InputRef(each, place) for place, each in enumerate(types)])
        assert expression.function.columns(call_site(expression, Session())) is not None, name


def test_an_expression_is_computed_once_per_batch():
    calls: list = []
    once = Call(IntType(), counting(calls), (InputRef(IntType(), 0),))
    row_type = RowType((RowField("a", IntType()),))
    program = Program([call("+", once, once), once], call(">", once, literal(0, IntType())), row_type)
    batch = TableColumns(row_type).batch([(1,), (-2,), (3,)])
    assert [column.to_pylist() for column in program.columns(batch).columns] == [[2, 6], [1, 3]]
    assert calls.count(-2) == 1


def test_a_filter_that_can_fail_sees_only_rows_that_passed_before():
    a, b = InputRef(IntType(), 0), InputRef(IntType(), 1)
    row_type = RowType((RowField("a", IntType()), RowField("b", IntType())))
    ratio = call(">", call("/", a, b), literal(1, IntType()))
    condition = call("AND", call("<>", b, literal(0, IntType())), ratio)
    batch = TableColumns(row_type).batch([(4, 2), (4, 0), (1, 1)])
    assert Program([a], condition, row_type).columns(batch).columns[0].to_pylist() == [4]
    with pytest.raises(SqlRuntimeError, match="Division by zero"):
        Program([a], ratio, row_type).columns(batch)


def test_kinds_constants_and_no_columns():
    row_type = RowType((RowField("a", IntType()),))
    batch = TableColumns(row_type, kinds=True).batch([(1, 0), (2, 3)])
    found = Program([literal("x", VarCharType())], None, row_type).columns(batch, kinds=True)
    assert [column.to_pylist() for column in found.columns] == [["x", "x"], [0, 3]]
    assert found.schema.names[-1] == "$kind"
    assert Program([], None, row_type).columns(batch).num_rows == 2
    kept = Program(None, call(">", InputRef(IntType(), 0), literal(1, IntType())), row_type).columns(batch, kinds=True)
    assert kept.columns[1].to_pylist() == [3]


def test_a_scalar_over_a_batch():
    moment, delay = InputRef(TimestampType(3), 0), literal(5000, DayTimeIntervalType("SECOND", 3))
    scalar = Scalar(call("-", moment, delay))
    batch = TableColumns(RowType((RowField("t", TimestampType(3)),))).batch([(10_000_000,), (None,)])
    assert scalar.column(batch).to_pylist() == [5_000_000, None]
