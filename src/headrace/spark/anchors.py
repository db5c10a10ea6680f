"""Keep the partitions of a job on the executors that have their slots, and move some when an executor joins.

Each level has an *anchor*: an empty, persisted RDD with the level's partitions. Spark prefers the executors that hold an
anchor's blocks, which are those where the level ran first. The partitions of a lost executor are computed, and so anchored,
where Spark runs them next. That is mostly on the remaining executors, before another one replaces the lost one, and the
replacement would stay idle. So when an executor joins, those that have more than their share drop the anchors of the
surplus. Spark runs these partitions where cores are free, and their tasks are rebuilt there from their state files.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from pyspark import SparkContext

_DROP_SECONDS = 5.0
_ATTEMPTS = 10
"""How many epochs to wait for Spark to use a new executor."""


class Anchors:
    """The anchors of one job, by level; used from one thread."""

    def __init__(self, context: SparkContext) -> None:
        self._context = context
        self._anchors: dict[int, Any] = {}
        self._homes: dict[int, dict[int, str]] = {}
        """Where partitions were when they had all settled."""
        self._attempts, self._looks = 0, _ATTEMPTS
        self._executors: dict[str, int] = {}
        jvm = context._jvm
        assert jvm is not None
        self._block = jvm.org.apache.spark.storage.RDDBlockId
        manager = _call(jvm, context._jsc.sc().env(), "SparkEnv", "blockManager", "storage.BlockManager")
        self._master = _call(jvm, manager, "storage.BlockManager", "master", "storage.BlockManagerMaster")

    def add(self, level: int, anchor: Any) -> None:
        self._anchors[level] = anchor

    def spread(self, executors: dict[str, int]) -> None:
        """Give new executors their share; `executors` maps each one to its concurrent tasks. Called before each epoch.

        The distribution over the first executors stays as Spark made it. Spark may not use a new executor at once, so
        this is repeated for some epochs.
        """
        if self._executors and executors.keys() - self._executors.keys():
            self._attempts = _ATTEMPTS
        self._executors = dict(executors)
        if not self._attempts or not executors:
            if not self._homes and self._looks:
                self._looks -= 1
                self._look_up_homes()
            return
        places = {level: self._places(anchor) for level, anchor in self._anchors.items()}
        homes = self._homes
        moved = {level: surplus(found, homes.get(level, {}), executors) for level, found in places.items()}
        for level, partitions in moved.items():
            for partition in partitions:
                self._drop(self._anchors[level], partition)
        self._attempts -= 1
        if self._attempts == 0 or (self._settled(places) and not any(moved.values())):
            self._attempts, self._homes = 0, places

    def _look_up_homes(self) -> None:
        places = {level: self._places(anchor) for level, anchor in self._anchors.items()}
        if self._settled(places):
            self._homes = places

    def _settled(self, places: dict[int, dict[int, str]]) -> bool:
        return all(len(places[level]) == anchor.getNumPartitions() for level, anchor in self._anchors.items())

    def close(self) -> None:
        for anchor in self._anchors.values():
            anchor.unpersist(False)

    def _places(self, anchor: Any) -> dict[int, str]:
        found = {}
        for partition in range(anchor.getNumPartitions()):
            locations = self._master.getLocations(self._block(anchor.id(), partition))
            if not locations.isEmpty():
                found[partition] = str(locations.head().executorId())
        return found

    def _drop(self, anchor: Any, partition: int) -> None:
        block = self._block(anchor.id(), partition)
        self._master.removeBlock(block)
        deadline = time.monotonic() + _DROP_SECONDS
        while not self._master.getLocations(block).isEmpty() and time.monotonic() < deadline:
            time.sleep(0.01)  # Spark prefers the executor until it has reported the removal


def _call(jvm: Any, target: Any, owner: str, method: str, result: str) -> Any:
    """Call a method by a handle. Py4J would load the types of all methods, some of which are missing in PySpark's jars."""
    found = [jvm.java.lang.Class.forName(f"org.apache.spark.{name}") for name in (owner, result)]
    kind = jvm.java.lang.invoke.MethodType.methodType(found[1])
    handle = jvm.java.lang.invoke.MethodHandles.publicLookup().findVirtual(found[0], method, kind)
    arguments = jvm.java.util.ArrayList()
    arguments.add(target)
    return handle.invokeWithArguments(arguments)


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
