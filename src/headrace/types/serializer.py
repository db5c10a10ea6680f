"""Interface of serializers that a program writes for its own window types.

Called by the state package for namespaces of custom windows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from io import BytesIO
from typing import Generic, TypeVar

__all__ = ["TypeSerializer", "VoidNamespaceSerializer"]

T = TypeVar("T")


class TypeSerializer(ABC, Generic[T]):
    """Writes values to a byte stream and reads them back. Programs implement a subclass.

    Two serializers are equal if they have the same class and equal attributes.

    >>> class TextSerializer(TypeSerializer[str]):
    ...     def serialize(self, element, stream):
    ...         stream.write(element.encode())
    ...
    ...     def deserialize(self, stream):
    ...         return stream.read().decode()
    >>> TextSerializer(), TextSerializer() == TextSerializer()
    (TextSerializer(), True)
    """

    @abstractmethod
    def serialize(self, element: T, stream: BytesIO) -> None:
        """Write an element to a stream."""

    @abstractmethod
    def deserialize(self, stream: BytesIO) -> T:
        """Read an element from a stream."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, self.__class__) and self.__dict__ == other.__dict__

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class VoidNamespaceSerializer(TypeSerializer[bytes]):
    """Writes and reads nothing, for state that does not belong to a window.

    >>> VoidNamespaceSerializer().deserialize(BytesIO())
    b''
    """

    def serialize(self, element: bytes, stream: BytesIO) -> None:
        """Write nothing."""

    def deserialize(self, stream: BytesIO) -> bytes:
        """Return empty bytes."""
        return b""
