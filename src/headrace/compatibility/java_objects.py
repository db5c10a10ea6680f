"""NoJava: what an object answers that is asked for the Java object behind it. There is none. Never does anything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.errors import NoJvmError

__all__ = ["NoJava"]


class NoJava:
    """Base of the classes that wrap a Java object in PyFlink: ``_j_...`` and ``get_java_...`` say what to do instead.

    >>> from headrace.common import Configuration
    >>> Configuration()._j_configuration
    Traceback (most recent call last):
    ...
    headrace.errors.NoJvmError: There is no Java object behind a Configuration [NO_JVM]
      seen:     _j_configuration
      remedy:   use the public methods of Configuration; Java code of Flink cannot run on headrace
    >>> hasattr(Configuration(), "_j_configuration")
    False
    """

    __slots__ = ()

    if not TYPE_CHECKING:  # so that mypy goes on to find attributes that are not there

        def __getattr__(self, name: str) -> Any:
            """Say that there is no such attribute, and for Java objects why."""
            kind = type(self).__name__
            if name.startswith(("_j_", "j_", "get_java_")):
                raise NoJvmError(
                    f"There is no Java object behind a {kind}",
                    seen=name,
                    remedy=f"use the public methods of {kind}; Java code of Flink cannot run on headrace",
                )
            raise AttributeError(f"{kind!r} object has no attribute {name!r}", name=name, obj=self)
