"""Time attributes: timestamps that operators may take as event time or processing time."""

from __future__ import annotations

from dataclasses import replace

from headrace.types.logical_types import (
    DataType,
    LocalZonedTimestampType,
    RowField,
    RowType,
    TimeAttribute,
    TimestampType,
)


def attribute(kind: DataType) -> TimeAttribute | None:
    """Return which time attribute a column is, if any."""
    if isinstance(kind, (TimestampType, LocalZonedTimestampType)):
        return kind.time_attribute
    return None


def is_rowtime(kind: DataType) -> bool:
    """Return whether a column is event time."""
    return attribute(kind) is TimeAttribute.ROWTIME


def is_proctime(kind: DataType) -> bool:
    """Return whether a column is processing time."""
    return attribute(kind) is TimeAttribute.PROCTIME


def plain(kind: DataType) -> DataType:
    """Return the type without its time attribute: that of a value that was computed from it.

    >>> plain(TimestampType(3, time_attribute=TimeAttribute.ROWTIME)).time_attribute is None
    True
    """
    if attribute(kind) is None:
        return kind
    return replace(kind, time_attribute=None)  # type: ignore[call-arg]


def with_attribute(kind: DataType, time: TimeAttribute | None) -> DataType:
    """Return a timestamp type as a time attribute."""
    if attribute(kind) is time:
        return kind
    return replace(kind, time_attribute=time)  # type: ignore[call-arg]


def plain_row(row: RowType) -> RowType:
    """Return the row type without time attributes."""
    fields = tuple(RowField(each.name, plain(each.data_type), each.description) for each in row.fields)
    return replace(row, fields=fields)
