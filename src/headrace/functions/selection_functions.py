"""Functions that decide where an element goes: key selectors and partitioners.

`key_by` and `partition_custom` also take plain callables.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from headrace.functions.function import Function

__all__ = ["KeySelector", "NullByteKeySelector", "Partitioner"]


class KeySelector(Function):
    """Returns the key of an element. The same element must always get the same key.

    >>> class ByName(KeySelector):
    ...     def get_key(self, value):
    ...         return value[0]
    >>> ByName().get_key(("ann", 3))
    'ann'
    """

    @abstractmethod
    def get_key(self, value: Any) -> Any:
        """Return the key of ``value``."""


class NullByteKeySelector(KeySelector):
    """Returns the same key for every element, so that a keyed operator sees the whole stream.

    >>> NullByteKeySelector().get_key("anything")
    0
    """

    def get_key(self, value: Any) -> int:
        """Return 0.

        >>> NullByteKeySelector().get_key(None)
        0
        """
        return 0


class Partitioner(Function):
    """Chooses the downstream subtask by the element's key.

    >>> class Modulo(Partitioner):
    ...     def partition(self, key, num_partitions):
    ...         return key % num_partitions
    >>> Modulo().partition(7, 4)
    3
    """

    @abstractmethod
    def partition(self, key: Any, num_partitions: int) -> int:
        """Return the index of the subtask, from 0 to ``num_partitions`` - 1."""
