"""The input of the recorded jobs, and the classes of a program whose objects are in their state.

Recordings hold pickles that name this module and its classes: keep them under these names.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum

from headrace.common import Duration, Instant, Row, RowKind, Types, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream.connectors.number_seq import NumberSequenceSource

LAST = 120
"""The input is 1 to this."""
EARLY = 20
"""A recording is stopped after these have been processed, and before the last."""
KEYS = 4
pace = 0.0
"""Seconds for each element; a recording needs time to be stopped in the middle."""


def paced(value):
    if pace:
        time.sleep(pace)
    return value


def numbers(env):
    """The input, in order."""
    source = env.from_source(NumberSequenceSource(1, LAST), WatermarkStrategy.no_watermarks(), "numbers")
    return source.uid("numbers").set_parallelism(1).map(paced, Types.LONG()).uid("paced").set_parallelism(1)


class Jittered(TimestampAssigner):
    """Event time is out of order by up to 50 ms, and now and then by far more."""

    def extract_timestamp(self, value, record_timestamp):
        late = 400 if value % 31 == 0 else 0
        return value * 10 + value * 7919 % 50 - late


def timed(stream, name="timed"):
    """A stream of numbers with event time and watermarks."""
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(60)).with_timestamp_assigner(
        Jittered()
    )
    return stream.assign_timestamps_and_watermarks(strategy).uid(name).set_parallelism(1)


def key_of(value):
    return value % KEYS


class Color(Enum):
    RED = 1
    GREEN = 2


@dataclass(frozen=True)
class Sensor:
    """A key of the program's own."""

    name: str
    color: Color


@dataclass
class Reading:
    """A value of the program's own."""

    number: int
    color: Color


class Bag:
    """A value whose class decides itself how it is pickled."""

    def __init__(self, items=()):
        self.items = list(items)

    def __reduce__(self):
        return Bag, (tuple(self.items),)


def sensor_of(value):
    return Sensor(f"sensor {value % KEYS}", Color(value % 2 + 1))


def variety(number):
    """One value of each kind that untyped state may hold."""
    row = Row(number=number, text=str(number))
    row.set_row_kind(RowKind.UPDATE_AFTER)
    day = datetime(2024, 2, 29, 12, tzinfo=timezone.utc) + timedelta(days=number)
    return {
        "row": row,
        "unnamed": Row(number, [number]),
        "instant": Instant(number, 5),
        "decimal": Decimal(number) / 8,
        "times": (day, day.date(), day.time(), timedelta(seconds=number)),
        "reading": Reading(number, Color.GREEN),
        "bag": Bag([number]),
        "plain": (number, float(number), str(number), b"%d" % number, {number}, [number, None], True),
    }


def shown(value):
    """A text of `variety` that does not depend on how classes print themselves."""
    return repr(
        (
            tuple(value["row"]),
            value["row"].text,
            value["row"].get_row_kind().name,
            tuple(value["unnamed"]),
            (value["instant"].seconds, value["instant"].nanos),
            str(value["decimal"]),
            [str(part) for part in value["times"]],
            (value["reading"].number, value["reading"].color.name),
            value["bag"].items,
            value["plain"],
        )
    )
