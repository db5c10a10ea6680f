"""Partitions of files: directories such as `day=2020-12-31/hour=12`, and the columns that they stand for."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from headrace.connectors.files.buckets import BucketAssigner
from headrace.table.formats import times
from headrace.types import java_parsing
from headrace.types import logical_types as t
from headrace.types.logical_types import DataType, RowType

_ESCAPED = re.compile(r'[\x00-\x1f"#%\'*/:=?\\\x7f{\[\]^]')


def escaped(text: str) -> str:
    """Return a text that can be the name of a directory.

    >>> escaped("12:30/x")
    '12%3A30%2Fx'
    """
    return _ESCAPED.sub(lambda found: f"%{ord(found.group()):02X}", text)


def partition_values(path: str, keys: tuple[str, ...]) -> dict[str, str]:
    """Return the values in the directories of a file.

    >>> partition_values("/data/day=2020-12-31/hour=1%3A0/part-0", ("day", "hour"))
    {'day': '2020-12-31', 'hour': '1:0'}
    """
    found = {}
    for part in os.path.dirname(path).split("/"):
        key, equals, value = part.partition("=")
        if equals and unquote(key) in keys:
            found[unquote(key)] = unquote(value)
    return found


def value_reader(kind: DataType, default: str) -> Callable[[str], Any]:
    """Return the function that reads the value of a partition column from the name of a directory."""
    if isinstance(kind, (t.TimestampType, t.LocalZonedTimestampType)):
        read: Callable[[str], Any] = times.timestamp_reader(kind, iso=False)
    elif isinstance(kind, t.DecimalType):
        fit = java_parsing.fitting(kind.precision, kind.scale)
        read = lambda text: fit(java_parsing.decimal_number(text))  # noqa: E731
    else:
        read = _READERS.get(type(kind), str)
    return lambda text: None if text == default else read(text)


_READERS: dict[type[DataType], Callable[[str], Any]] = {
    t.BooleanType: lambda text: text.lower() == "true",
    t.TinyIntType: java_parsing.whole_in(8),
    t.SmallIntType: java_parsing.whole_in(16),
    t.IntType: java_parsing.whole_in(32),
    t.BigIntType: java_parsing.whole_in(64),
    t.FloatType: java_parsing.float32,
    t.DoubleType: java_parsing.double,
    t.DateType: times.date_of,
    t.TimeType: times.time_of,
}


class PartitionBuckets(BucketAssigner):
    """Chooses the directory of a row by its partition columns.

    >>> rows = t.RowType((t.RowField("a", t.IntType()), t.RowField("day", t.DateType())))
    >>> PartitionBuckets(rows, ("day",), "__DEFAULT_PARTITION__").get_bucket_id((1, 0), 0)
    'day=1970-01-01'
    """

    def __init__(self, row_type: RowType, keys: tuple[str, ...], default: str) -> None:
        """Set the partition columns."""
        super().__init__()
        names = row_type.field_names()
        parts = [(key, names.index(key), _writer(row_type.field_types()[names.index(key)])) for key in keys]
        object.__setattr__(self, "_arguments", (row_type, keys, default))
        object.__setattr__(self, "_parts", parts)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the settings only."""
        return type(self), self._arguments  # type: ignore[attr-defined]

    def get_bucket_id(self, element: Any, processing_time: int) -> str:
        """Return the directory of a row."""
        default = self._arguments[2]  # type: ignore[attr-defined]
        return "/".join(
            f"{escaped(key)}={default if element[index] is None else escaped(write(element[index]) or default)}"
            for key, index, write in self._parts  # type: ignore[attr-defined]
        )


def _writer(kind: DataType) -> Callable[[Any], str]:
    match kind:
        case t.TimestampType() | t.LocalZonedTimestampType():
            return times.timestamp_writer(kind, iso=False)
        case t.TimeType():
            return times.time_text
    if type(kind) is t.DateType:
        return times.date_text
    return (lambda value: "true" if value else "false") if type(kind) is t.BooleanType else str
