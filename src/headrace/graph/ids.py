"""Stable operator ids: 32 hexadecimal digits that are the same whenever the same program is built.

An id comes from the user's `uid_hash`, else from the `uid`, else from the operator's position in the graph. State is stored
under it, so set uids in programs that will be changed and restored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Protocol

from headrace.graph.transformations import Transformation


class _Edge(Protocol):
    @property
    def source(self) -> int: ...
    @property
    def target(self) -> int: ...


def assign_operator_ids(operators: Sequence[Transformation], edges: Sequence[_Edge]) -> dict[int, str]:
    """Map the id of each operator transformation to its stable hexadecimal id."""
    ids: dict[int, str] = {}
    inputs: dict[int, list[int]] = {t.id: [] for t in operators}
    for edge in edges:
        inputs[edge.target].append(edge.source)
    for position, t in enumerate(operators):
        if t.uid_hash is not None:
            ids[t.id] = t.uid_hash
        elif t.uid is not None:
            ids[t.id] = id_of_uid(t.uid)
        else:
            parents = [ids.get(i, "feedback") for i in inputs[t.id]]
            kind = type(t.spec).__name__
            ids[t.id] = hashed("node", str(position), kind, *parents)
    return ids


def id_of_uid(uid: str) -> str:
    """Return the operator id of a uid.

    >>> id_of_uid("my-map") == hashed("uid", "my-map")
    True
    """
    return hashed("uid", uid)


def hashed(*parts: str) -> str:
    """Return the hexadecimal id of a sequence of strings.

    >>> len(hashed("uid", "my-map"))
    32
    """
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:32]
