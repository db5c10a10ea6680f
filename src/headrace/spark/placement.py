"""Decide which partitions of a level an executor gives up when another one joins. Pure; called by `anchors`."""

from __future__ import annotations

from collections.abc import Mapping


def surplus(places: Mapping[int, str], homes: Mapping[int, str], tasks: Mapping[str, int]) -> list[int]:
    """Return the partitions to move, so that every executor has its share of the level.

    `places` maps partitions to executors, `homes` does so for the last change of executors, and `tasks` maps executors to
    their concurrent tasks. An executor first gives up partitions that it got since that change, mostly from a lost
    executor. It keeps its share, and with it the live state.

    >>> surplus({0: "a", 1: "a", 2: "a", 3: "a"}, {0: "lost", 1: "a", 2: "lost", 3: "a"}, {"a": 2, "b": 2})
    [0, 2]
    >>> surplus({0: "a", 1: "b", 2: "a"}, {}, {"a": 1, "b": 1})
    []
    """
    total = sum(tasks.values())
    found: list[int] = []
    for executor, at_a_time in tasks.items():
        share = -(-len(places) * at_a_time // total)
        here = [partition for partition, place in places.items() if place == executor]
        here.sort(key=lambda partition: (homes.get(partition) != executor, partition))
        found += here[share:]
    return sorted(found)
