"""Lookup: the callable of a connector in the form that the operator of lookup joins expects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Lookup:
    """Finds the rows of an external table by key.

    >>> Lookup(lambda key: [(key, "one")] if key == 1 else []).rows((1,))
    [(1, 'one')]
    """

    find: Callable[..., Any]

    def open(self) -> None:
        """Open the connector's resources, if it has any."""
        getattr(self.find, "open", _nothing)()

    def close(self) -> None:
        """Close them."""
        getattr(self.find, "close", _nothing)()

    def rows(self, key: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """Return the rows for the values of a key."""
        return list(self.find(*key))


def _nothing() -> None:
    """Do nothing."""
