"""Temporal functions by hand, and that their column forms equal their row forms for random values."""

from __future__ import annotations

import random
from datetime import datetime, timezone

import pyarrow as pa
import pytest
from tests.unit.table.functions.calling import Keyword, both_forms, call

from headrace.table.functions.definition import Argument, ArgumentError, CallSite, Session
from headrace.table.functions.registry import scalar_function
from headrace.table.plan.rex import Call, InputRef
from headrace.table.programs.program import Program
from headrace.types.logical_types import (
    BigIntType,
    DataType,
    DateType,
    LocalZonedTimestampType,
    RowField,
    RowType,
    TimeAttribute,
    TimestampType,
    TimeType,
    VarCharType,
)

CHANCE = random.Random(7)
MICROS = [CHANCE.randrange(-(2**53), 2**53) for _ in range(60)] + [0, -1, -86_400_000_000, 1_616_893_199_999_999, None]
DAYS = [CHANCE.randrange(-200_000, 100_000) for _ in range(60)] + [0, -1, -141_428, -141_427, None]
ZONES = [Session("UTC"), Session("Europe/Berlin"), Session("Asia/Kathmandu")]


def micros(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp() * 1_000_000)


def moment(text: str, data_type: DataType | None = None) -> Argument:
    return Argument(data_type or TimestampType(3, is_nullable=False), micros(text))


@pytest.mark.parametrize("session", ZONES, ids=lambda session: session.time_zone)
@pytest.mark.parametrize("data_type", [TimestampType(3), LocalZonedTimestampType(3), DateType()])
@pytest.mark.parametrize("unit", ["YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOW", "DOY", "ISODOW", "HOUR", "SECOND"])
def test_extract_of_columns_equals_extract_of_rows(unit: str, data_type: DataType, session: Session) -> None:
    values = DAYS if isinstance(data_type, DateType) else MICROS
    by_row, by_column = both_forms("EXTRACT", Keyword(unit), (data_type, values), session=session)
    assert by_row == by_column


@pytest.mark.parametrize("session", ZONES, ids=lambda session: session.time_zone)
@pytest.mark.parametrize("data_type", [TimestampType(3), LocalZonedTimestampType(3)])
@pytest.mark.parametrize("unit", ["SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR"])
def test_rounding_of_columns_equals_rounding_of_rows(unit: str, data_type: DataType, session: Session) -> None:
    by_row, by_column = both_forms("FLOOR TO", (data_type, MICROS), Keyword(unit), session=session)
    assert by_row == by_column
    if unit not in ("MONTH", "YEAR"):
        by_row, by_column = both_forms("CEIL TO", (data_type, MICROS), Keyword(unit), session=session)
        assert by_row == by_column


@pytest.mark.parametrize("unit", ["SECOND", "MINUTE", "HOUR", "DAY", "WEEK"])
def test_differences_and_sums_of_columns_equal_those_of_rows(unit: str) -> None:
    column = (TimestampType(3), MICROS)
    for arguments in ((moment("2020-01-01"), column), (column, column), (column, moment("2020-01-01"))):
        by_row, by_column = both_forms("TIMESTAMPDIFF", Keyword(unit), *arguments)
        assert by_row == [None if each is None else each for each in by_column]
    by_row, by_column = both_forms("TIMESTAMPADD", Keyword(unit), 3, column)
    assert by_row == by_column


def test_other_column_forms_equal_their_row_forms() -> None:
    for name, *arguments in (
        ("DATE_FORMAT", (LocalZonedTimestampType(3), MICROS), "yyyy-MM-dd'T'HH:mm:ss.SSS EEE"),
        ("TO_TIMESTAMP_LTZ", (BigIntType(), [*MICROS, 10**18, -(10**18)]), 3),
        ("TO_TIMESTAMP_LTZ", (BigIntType(), [*MICROS, 10**18, -(10**18)]), 0),
        ("TO_TIMESTAMP", (VarCharType(), ["2020-01-01", "2020-1-1 1:02:3.5", "x", None, ""])),
        ("FROM_UNIXTIME", (BigIntType(), [0, 10**9, None, -5])),
        ("YEAR", (DateType(), DAYS)),
        ("HOUR", (TimeType(0), [0, 86_399_999, None])),
    ):
        by_row, by_column = both_forms(name, *arguments, session=Session("Europe/Berlin"))
        assert by_row == by_column


def test_formats() -> None:
    at = moment("2021-03-04 15:06:07.089")
    assert call("DATE_FORMAT", at, "yyyy-MM-dd HH:mm:ss.SSS") == "2021-03-04 15:06:07.089"
    assert call("DATE_FORMAT", at, "EEEE, d MMMM yy 'o''clock' h a") == "Thursday, 4 March 21 o'clock 3 PM"
    berlin = Session("Europe/Berlin")
    ltz = moment("2021-03-04 15:06:07.089", LocalZonedTimestampType(3))
    assert call("DATE_FORMAT", ltz, "HH:mm", session=berlin) == "16:06"
    assert call("FROM_UNIXTIME", 0, session=berlin) == "1970-01-01 01:00:00"
    assert call("UNIX_TIMESTAMP", "1970-01-01 01:00:00", session=berlin) == 0


def test_times_that_the_clock_skips_move_forward() -> None:
    berlin = Session("Europe/Berlin")
    assert call("UNIX_TIMESTAMP", "2021-03-28 02:30:00", session=berlin) == micros("2021-03-28 01:30:00") // 1_000_000
    assert call("CONVERT_TZ", "2021-03-28 02:30:00", "Europe/Berlin", "UTC") == "2021-03-28 01:30:00"


def test_overlaps() -> None:
    a, b, c, d = (moment(f"2020-01-0{n}") for n in (1, 3, 2, 4))
    assert call("OVERLAPS", a, b, c, d) is True
    assert call("OVERLAPS", a, c, b, d) is False
    assert call("OVERLAPS", a, c, c, d) is True


def test_clocks_of_a_batch_query_stand_still() -> None:
    session = Session("Europe/Berlin", batch=True, query_time=micros("2021-12-31 23:30:00.123"))
    assert call("CURRENT_TIMESTAMP", session=session) == micros("2021-12-31 23:30:00.123")
    assert call("LOCALTIMESTAMP", session=session) == micros("2022-01-01 00:30:00.123")
    assert call("CURRENT_DATE", session=session) == micros("2022-01-01") // 86_400_000_000


def test_the_watermark_is_that_of_the_operator() -> None:
    function = scalar_function("CURRENT_WATERMARK")
    rowtime = Argument(TimestampType(3, time_attribute=TimeAttribute.ROWTIME))
    site = CallSite((rowtime,), function.infer([rowtime]).result)
    compute = function.rows(site)
    assert compute(5) is None
    site.session.running.watermark = 7
    assert compute(5) == 7000
    with pytest.raises(ArgumentError, match="rowtime"):
        function.infer([Argument(TimestampType(3))])


def test_an_operator_tells_its_program_the_watermark() -> None:
    rowtime = TimestampType(3, time_attribute=TimeAttribute.ROWTIME)
    call_of_column = Call(TimestampType(3), scalar_function("CURRENT_WATERMARK"), (InputRef(rowtime, 0),))
    program = Program((call_of_column,), None, RowType((RowField("ts", rowtime),)))
    other = Program((call_of_column,), None, RowType((RowField("ts", rowtime),)))
    program.at_watermark(5)
    assert (program.rows([(1,)]), other.rows([(1,)])) == ([(5000,)], [(None,)])
    assert program.columns(pa.record_batch({"ts": [1, 2]})).column(0).to_pylist() == [5000, 5000]
