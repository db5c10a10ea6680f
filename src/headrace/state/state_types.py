"""The declared types of states, saved as strings with the entries.

Decides whether a state that was saved with one type may be read with another. The values do not show it: a
state that is declared as `STRING` would return a number that was saved for a `LONG`. Used by the backends.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from headrace.errors import StateMigrationError
from headrace.types.typeinfo import TypeInformation, Types

_ANY = repr(Types.PICKLED_BYTE_ARRAY())


class StateTypes:
    """The types of one operator's states: the restored ones, and those that the program declares.

    >>> types = StateTypes()
    >>> types.restore({"count": "Long"})
    >>> types.declare("total", Types.STRING())
    >>> types.texts()
    {'count': 'Long', 'total': 'String'}
    >>> types.declare("count", Types.STRING())
    Traceback (most recent call last):
    ...
    headrace.errors.StateMigrationError: The state 'count' was saved with another type [STATE_MIGRATION]
      seen:     String, declared by the program
      expected: Long, as it was saved
      remedy:   declare Long again; or rename the state; or convert it with SavepointWriter.transform_keyed_state
    """

    __slots__ = ("_declared", "_restored")

    def __init__(self) -> None:
        self._restored: dict[str, str] = {}
        self._declared: dict[str, str] = {}

    def restore(self, texts: Mapping[str, str] | None) -> None:
        """Take the saved types; savepoints of earlier versions have none."""
        self._restored.update(texts or {})

    def declare(self, name: str, type_info: TypeInformation | None) -> None:
        """Note the type that the program declares for a state. Raise if it was saved with one that does not fit."""
        if type_info is None:
            return
        wanted = repr(type_info)
        saved = self._restored.get(name)
        if saved is not None and not same_type(saved, wanted):
            raise StateMigrationError(
                f"The state {name!r} was saved with another type",
                seen=f"{wanted}, declared by the program",
                expected=f"{saved}, as it was saved",
                remedy=f"declare {saved} again; or rename the state; or convert it with "
                "SavepointWriter.transform_keyed_state",
            )
        self._declared[name] = wanted

    def texts(self) -> dict[str, str]:
        """Return the types by name, to be saved and passed to `restore`."""
        return self._restored | self._declared


def same_type(saved: str, wanted: str) -> bool:
    """Return whether a state that was saved with one type may be read with the other.

    >>> same_type("Long", "Long"), same_type("Long", "String"), same_type("Long", "PickledByteArrayTypeInfo")
    (True, False, True)
    """
    return _fits(saved, wanted) or _fits(wanted, saved)


def _fits(general: str, special: str) -> bool:
    """Return whether both are the same type, once a pickled value in `general` may be anything."""
    pattern: Any = re.escape(general).replace(re.escape(_ANY), ".+")
    return re.fullmatch(pattern, special) is not None
