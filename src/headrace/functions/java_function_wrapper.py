"""Stands for PyFlink's wrapper of a Java function, which headrace cannot have. Never runs anything."""

from __future__ import annotations

from typing import Any

from headrace.errors import NoJvmError

__all__ = ["JavaFunctionWrapper"]


class JavaFunctionWrapper:
    """Rejects Java functions with a pointer to what to write instead.

    >>> JavaFunctionWrapper("org.example.MySource")
    Traceback (most recent call last):
    ...
    headrace.errors.NoJvmError: A Java function cannot run in headrace [NO_JVM]
      seen:     org.example.MySource
      remedy:   write a SourceFunction or SinkFunction in Python, or use a connector of headrace.datastream.connectors
    """

    def __init__(self, j_function: object) -> None:
        """Refuse: there is no JVM of Flink."""
        raise NoJvmError(
            "A Java function cannot run in headrace",
            seen=j_function,
            remedy="write a SourceFunction or SinkFunction in Python, "
            "or use a connector of headrace.datastream.connectors",
        )

    def get_java_function(self) -> Any:
        """Refuse: there is no JVM of Flink."""
        raise NoJvmError("There is no Java function in headrace")
