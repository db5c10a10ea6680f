"""NoJvmObject: raise NoJvmError when a program asks for the Java object that PyFlink has behind an object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.errors import NoJvmError


class NoJvmObject:
    """Base of the classes that wrap a Java object in PyFlink: ``_j_...`` and ``get_java_...`` raise NoJvmError.

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

    if not TYPE_CHECKING:  # so that mypy still reports attributes that do not exist

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError, for Java objects with the reason."""
            kind = type(self).__name__
            if name.startswith(("_j_", "j_", "get_java_")):
                raise NoJvmError(
                    f"There is no Java object behind a {kind}",
                    seen=name,
                    remedy=f"use the public methods of {kind}; Java code of Flink cannot run on headrace",
                )
            raise AttributeError(f"{kind!r} object has no attribute {name!r}", name=name, obj=self)
