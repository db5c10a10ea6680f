"""Writes values as Java does, to compare them with answers that Flink gave as text."""

from __future__ import annotations

from datetime import datetime
from typing import Any


def java_text(value: Any) -> str | None:
    """Return a value as Java shows it.

    >>> java_text(datetime(2024, 1, 1, 12, 0)), java_text(datetime(2024, 1, 1, 12, 0, 0, 70000)), java_text(True)
    ('2024-01-01T12:00', '2024-01-01T12:00:00.070', 'true')
    """
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        seconds = f":{value.second:02}" if value.second or value.microsecond else ""
        fraction = f"{value.microsecond:06}"
        shown = fraction[:3] if fraction.endswith("000") else fraction
        return f"{value:%Y-%m-%dT%H:%M}{seconds}" + (f".{shown}" if value.microsecond else "")
    return str(value)
