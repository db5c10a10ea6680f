"""The events of partial matches of one key, shared by all branches that hold them.

A branch is a chain of links `(step, number of the event, event, previous link)`, newest first. Branches that have taken
the same events so far share the same links, and every event is held by reference, so it is in memory only once. A link has
exactly one previous link: its newest link identifies a branch, and no version number is needed to find the way back. (With
links merged per event and step, every branch and edge would need a Dewey number as long as its chain, and each step would
copy and compare it: a loop of n events would cost n * n.) Links are immutable tuples, so the interpreter counts their
references: a branch that ends immediately releases the events that no other branch holds.

`frozen` turns chains into flat tables for a checkpoint (each event once, links by number, however long a chain is),
`thawed` turns them back. Events are numbered per key in the order of processing: the number is an event's identity.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Link = tuple[str, int, Any, Any]
"""(step, event number, event, previous link or None)"""

Frozen = tuple[dict[int, Any], list[tuple[str, int, int]]]
"""Events by number, and links as (step, event number, index of the previous link or -1)."""


def match_of(link: Link | None) -> dict[str, list[Any]]:
    """Return the chain as a match: steps in order of their first event, with their events in order.

    >>> match_of(("b", 2, "y", ("a", 1, "x", None)))
    {'a': ['x'], 'b': ['y']}
    """
    chain = []
    while link is not None:
        chain.append(link)
        link = link[3]
    match: dict[str, list[Any]] = {}
    for step, _, event, _ in reversed(chain):
        if step in match:
            match[step].append(event)
        else:
            match[step] = [event]
    return match


def numbers_of(link: Link | None, step: str | None = None) -> list[int]:
    """Return the numbers of the events of the chain (or of one step in it), newest first."""
    numbers = []
    while link is not None:
        if step is None or link[0] == step:
            numbers.append(link[1])
        link = link[3]
    return numbers


def frozen(heads: Iterable[Link | None]) -> tuple[Frozen, list[int]]:
    """Return flat tables of all chains, and for each head the index of its link (-1 for no link).

    >>> shared = ("a", 1, "x", None)
    >>> frozen([("b", 2, "y", shared), ("b", 3, "z", shared)])
    (({1: 'x', 2: 'y', 3: 'z'}, [('a', 1, -1), ('b', 2, 0), ('b', 3, 0)]), [1, 2])
    """
    events: dict[int, Any] = {}
    links: list[tuple[str, int, int]] = []
    index_of: dict[int, int] = {}
    indexes = []
    for head in heads:
        fresh = []
        link = head
        while link is not None and id(link) not in index_of:
            fresh.append(link)
            link = link[3]
        before = -1 if link is None else index_of[id(link)]
        for link in reversed(fresh):
            events[link[1]] = link[2]
            links.append((link[0], link[1], before))
            before = index_of[id(link)] = len(links) - 1
        indexes.append(before)
    return (events, links), indexes


def thawed(tables: Frozen, indexes: Iterable[int]) -> list[Link | None]:
    """Return the heads that `frozen` took, sharing links as before.

    >>> heads = [("b", 2, "y", ("a", 1, "x", None)), None]
    >>> thawed(*frozen(heads)) == heads
    True
    """
    events, links = tables
    made: list[Link] = []
    for step, number, before in links:
        made.append((step, number, events[number], None if before < 0 else made[before]))
    return [None if index < 0 else made[index] for index in indexes]
