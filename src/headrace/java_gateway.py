"""The path of `pyflink.java_gateway`, so that programs can import it; there is no Java gateway."""

from __future__ import annotations

from typing import NoReturn

from headrace.compatibility.names import offer_pyflink_names
from headrace.errors import NoJvmError


def get_gateway() -> NoReturn:
    """Raise NoJvmError: there is no Flink JVM.

    >>> get_gateway()
    Traceback (most recent call last):
    ...
    headrace.errors.NoJvmError: There is no Java gateway in headrace [NO_JVM]
      remedy:   do not use Java objects: write functions, sources and sinks in Python
    """
    raise NoJvmError(
        "There is no Java gateway in headrace",
        remedy="do not use Java objects: write functions, sources and sinks in Python",
    )


offer_pyflink_names(__name__)
