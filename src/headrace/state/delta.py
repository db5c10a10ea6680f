"""The state that a subtask saves at the end of an epoch.

Decides the shape of a subtask's state. Never reads or writes: ``headrace.state.files`` does. Used by the task (which fills
it) and by the restore.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from headrace.state.tombstone import KeyedDelta


@dataclass
class OperatorState:
    """The saved state of one operator.

    ``keyed`` holds state name -> key group -> entries (``TOMBSTONE`` as a value deletes). ``plain`` holds anything else
    by name (operator state, kinds of states, watermarks of channels); a name in a later file replaces the earlier
    value as a whole, and a name that is missing there keeps it.

    >>> OperatorState(plain={"watermark": 5}).plain
    {'watermark': 5}
    """

    keyed: KeyedDelta = field(default_factory=dict)
    plain: dict[str, Any] = field(default_factory=dict)


@dataclass
class SubtaskState:
    """The saved state of one subtask: that of its operators by uid.

    >>> SubtaskState({"count": OperatorState()}).operators["count"].keyed
    {}
    """

    operators: dict[str, OperatorState] = field(default_factory=dict)
