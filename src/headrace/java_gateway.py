"""Stands for `pyflink.java_gateway`, so that programs which import it load; there is no Java gateway to give."""

from __future__ import annotations

from typing import NoReturn

from headrace.compatibility.names import offer_pyflink_names
from headrace.errors import NoJvmError

__all__ = ["get_gateway"]


def get_gateway() -> NoReturn:
    """Refuse: headrace runs no JVM of Flink.

    >>> get_gateway()
    Traceback (most recent call last):
    ...
    headrace.errors.NoJvmError: There is no Java gateway in headrace [NO_JVM]
      remedy:   leave Java objects out: functions, sources and sinks are written in Python
    """
    raise NoJvmError(
        "There is no Java gateway in headrace",
        remedy="leave Java objects out: functions, sources and sinks are written in Python",
    )


offer_pyflink_names(__name__)
