"""Modules: named sets of functions. There is one, `core`."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ModuleEntry"]


@dataclass(frozen=True)
class ModuleEntry:
    """A module, and whether it is used.

    >>> ModuleEntry("core", True).name()
    'core'
    """

    _name: str
    _used: bool

    def name(self) -> str:
        """Return the name."""
        return self._name

    def used(self) -> bool:
        """Return whether the module is used."""
        return self._used
