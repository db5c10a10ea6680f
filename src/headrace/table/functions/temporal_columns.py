"""Column forms of the temporal functions: integer arithmetic in numpy, equal to the row forms."""

from __future__ import annotations

from datetime import timezone
from typing import Any

from headrace.table.functions import time_units
from headrace.table.functions.casts.zones import local_micros, zone_of
from headrace.table.functions.column_forms import Columns, arrow_type, flat, is_array
from headrace.table.functions.definition import CallSite, Session
from headrace.types.logical_types import DataType, DateType, LocalZonedTimestampType, TimestampType, TimeType

_QUARTER_HOUR = 900_000_000
_JULIAN_END = -141_428
_STEPS = {"YEAR": "Y", "MONTH": "M"}
_NUMBERS = frozenset(("YEAR", "MONTH", "QUARTER", "DAY", "DOW", "ISODOW", "DOY", "WEEK"))


def _numbers(column: Any) -> tuple[Any, Any]:
    """Return a column as 64-bit numbers, and where it is null (None if nowhere). A constant is a number."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_array(column):
        value = column.as_py() if isinstance(column, pa.Scalar) else column
        return (0, True) if value is None else (value, None)
    column = flat(column)
    nulls = None
    if column.null_count:
        nulls = column.is_null().to_numpy(zero_copy_only=False)
        column = pc.fill_null(column, 0)
    return column.to_numpy(zero_copy_only=False).astype(np.int64, copy=False), nulls


def _column(numbers: Any, nulls: Any, data_type: DataType) -> Any:
    import numpy as np
    import pyarrow as pa

    mask = np.ones(len(numbers), bool) if nulls is True else nulls
    target = arrow_type(data_type)
    return pa.array(numbers.astype(target.to_pandas_dtype(), copy=False), mask=mask)


def _both(first: Any, second: Any) -> Any:
    if first is None or second is None:
        return second if first is None else first
    return True if first is True or second is True else first | second


def _truncated(numbers: Any, size: int) -> Any:
    """Divide towards zero."""
    quotient = numbers // size
    return quotient + ((numbers < 0) & (numbers % size != 0))


def _local(micros: Any, data_type: DataType, session: Session) -> Any:
    """Return the local times of timestamps. Offsets from UTC change on quarters of an hour only."""
    import numpy as np

    zone = zone_of(session.time_zone)
    if not isinstance(data_type, LocalZonedTimestampType) or zone is timezone.utc:
        return micros
    if not hasattr(micros, "shape"):
        return local_micros(micros, zone)
    quarters, places = np.unique(micros // _QUARTER_HOUR, return_inverse=True)
    offsets = [local_micros(each * _QUARTER_HOUR, zone) - each * _QUARTER_HOUR for each in quarters.tolist()]
    return micros + np.array(offsets, np.int64)[places]


def _millis(numbers: Any, data_type: DataType, session: Session) -> Any:
    if isinstance(data_type, DateType):
        return numbers * time_units.DAY
    if isinstance(data_type, (TimestampType, LocalZonedTimestampType)):
        return _local(numbers, data_type, session) // 1000
    return numbers


def _date_part(unit: str, days: Any) -> Any:
    import numpy as np

    if unit in ("DOW", "ISODOW"):
        return (days + (4 if unit == "DOW" else 3)) % 7 + 1
    dates = days.astype("M8[D]")
    years = dates.astype("M8[Y]")
    months = dates.astype("M8[M]").astype(np.int64) % 12 + 1
    match unit:
        case "YEAR":
            return years.astype(np.int64) + 1970
        case "MONTH":
            return months
        case "QUARTER":
            return (months + 2) // 3
        case "DAY":
            return (dates - dates.astype("M8[M]")).astype(np.int64) + 1
        case "DOY":
            return (dates - years).astype(np.int64) + 1
    # The ISO week of a day is the week of its Thursday.
    thursdays = (days - (days + 3) % 7 + 3).astype("M8[D]")
    return (thursdays - thursdays.astype("M8[Y]")).astype(np.int64) // 7 + 1


def extract_columns(unit: str, data_type: DataType, session: Session, place: int) -> Columns | None:
    """Return the column form of EXTRACT for the argument at `place`, or None."""
    dated = unit in _NUMBERS
    if not isinstance(data_type, (DateType, TimeType, TimestampType, LocalZonedTimestampType)):
        return None
    if not dated and (unit not in time_units.MILLIS or unit == "WEEK"):
        return None

    def run(*values: Any) -> Any:
        from headrace.types.logical_types import BigIntType

        numbers, nulls = _numbers(values[place])
        # Flink takes hours and less from a DATE as if its days were milliseconds.
        whole = dated or not isinstance(data_type, DateType)
        millis = _millis(numbers, data_type, session) if whole else numbers
        if dated:
            parts = _date_part(unit, _truncated(millis, time_units.DAY))
        else:
            cycle = {"HOUR": time_units.DAY, "MINUTE": 3_600_000, "SECOND": 60_000}.get(unit, 1000)
            parts = _truncated(millis - _truncated(millis, cycle) * cycle, time_units.MILLIS[unit])
        return _column(parts, nulls, BigIntType())

    return run


def round_columns(unit: str, data_type: DataType, session: Session, *, up: bool) -> Columns | None:
    """Return the column form of FLOOR and CEIL to a unit of timestamps, or None."""
    simple = unit in time_units.MILLIS and unit != "WEEK"
    if not isinstance(data_type, (TimestampType, LocalZonedTimestampType)) or not (simple or unit in _STEPS):
        return None
    if up and not simple:
        return None

    def run(column: Any, *_: Any) -> Any:
        import numpy as np

        numbers, nulls = _numbers(column)
        local = _local(numbers // 1000 * 1000, data_type, session) // 1000
        if simple:
            size = time_units.MILLIS[unit]
            rounded = -(-local // size) * size if up else local // size * size
        else:
            days = _truncated(local, time_units.DAY)
            dates = days.astype("M8[D]").astype(f"M8[{_STEPS[unit]}]").astype("M8[D]").astype(np.int64)
            for index in np.flatnonzero(days <= _JULIAN_END).tolist():
                dates[index] = time_units.round_date(unit, int(days[index]), up=False)
            rounded = dates * time_units.DAY
        offsets = local - numbers // 1000
        return _column((rounded - offsets) * 1000, nulls, data_type)

    return run


def shift_columns(site: CallSite) -> Columns | None:
    """Return the column form of TIMESTAMPADD for units of fixed length, or None."""
    unit = str(site.arguments[0].value).replace("SQL_TSI_", "")
    source = site.arguments[2].type
    if unit not in time_units.MILLIS or not isinstance(source, (TimestampType, LocalZonedTimestampType)):
        return None
    size = time_units.MILLIS[unit] * 1000

    def run(_: Any, amounts: Any, moments: Any) -> Any:
        (counts, missing), (micros, nulls) = _numbers(amounts), _numbers(moments)
        return _column(micros + counts * size, _both(missing, nulls), site.result)

    return run


def difference_columns(site: CallSite) -> Columns | None:
    """Return the column form of TIMESTAMPDIFF for units of fixed length, or None."""
    unit = str(site.arguments[0].value).replace("SQL_TSI_", "")
    first_type, second_type = (each.type for each in site.arguments[1:])
    if unit not in time_units.MILLIS:
        return None

    def run(_: Any, first: Any, second: Any) -> Any:
        (starts, missing), (ends, nulls) = _numbers(first), _numbers(second)
        length = _millis(ends, second_type, site.session) - _millis(starts, first_type, site.session)
        return _column(_truncated(length, time_units.MILLIS[unit]), _both(missing, nulls), site.result)

    return run
