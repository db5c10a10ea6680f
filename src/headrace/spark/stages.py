"""Build an epoch's line of stages in the JVM with few calls over the gateway, and collect the result of the last stage.

This bypasses PySpark's RDD class for two reasons: frames stay raw bytes all the way, and an epoch with almost no data should
cost little more than Spark's own scheduling. A pair of the exchange is (target partition, frame): Python decides where a
frame goes, and the JVM moves it.

On a cluster a subtask should run where its slot is, so each level has an anchor (see `Anchors`). An exchange is then
`subtractByKey` of nothing: one shuffle like `partitionBy`, whose only other parent is the anchor. (A union with the anchor
would work too, but it knows only hosts, not executors.) The price is that all frames of a partition in an epoch are in the
executor's memory at once. So a batch job, whose only epoch has all data, has no anchors.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pyspark import Broadcast, SparkContext
from pyspark.serializers import NoOpSerializer
from pyspark.util import _load_from_socket

_DROP_SECONDS = 5.0
_ATTEMPTS = 10
"""How many epochs to wait for Spark to use a new executor."""


class Anchors:
    """The anchors of one job, by level; used from one thread. They keep partitions on the executors that have their slots.

    An anchor is an empty, persisted RDD with the level's partitions. Spark prefers the executors that hold an anchor's
    blocks, which are those where the level ran first. The partitions of a lost executor are computed, and so anchored,
    where Spark runs them next. That is mostly on the remaining executors, before another one replaces the lost one, and
    the replacement would stay idle. So when an executor joins, those that have more than their share drop the anchors of
    the surplus. Spark runs these partitions where cores are free, and their tasks are rebuilt there from their state files.
    """

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


_LARGE_COMMAND = 1 << 20
"""Spark ships a command with every task; above this size a broadcast is cheaper."""
LevelFunction = Callable[[int, Iterable[bytes]], Iterator[bytes]]
"""Runs a partition of a level on its incoming frames."""


class StageLine:
    """The stages of one job; `run` is called once per epoch, always from the same thread."""

    def __init__(self, context: SparkContext, group: str, first_partitions: int, *, anchored: bool) -> None:
        jvm = context._jvm
        assert jvm is not None
        self._context = context
        self._group = group
        self._raw = NoOpSerializer()
        # Each lookup of a name in the JVM is a round trip, so look up once per job.
        self._function = jvm.SimplePythonFunction
        self._python_rdd = jvm.PythonRDD
        self._pairwise = jvm.PairwiseRDD
        self._partitioner = jvm.PythonPartitioner
        self._partitioners: dict[int, Any] = {}
        self._pairs: dict[int, Any] = {}
        """The anchors of exchanges as JavaPairRDDs."""
        self._anchors = Anchors(context) if anchored else None
        source: Any = context.parallelize([], first_partitions)
        self._source = (source.persist() if anchored else source)._jrdd.rdd()
        if self._anchors is not None:
            self._anchors.add(0, self._source)

    def spread(self, executors: dict[str, int]) -> None:
        """Give executors that joined their share of the work; `executors` maps each one to its concurrent tasks."""
        if self._anchors is not None:
            self._anchors.spread(executors)

    def run(
        self, levels: list[tuple[LevelFunction, int | None]], shipped: Broadcast[bytes], description: str
    ) -> list[bytes]:
        """Run (function, partitions of the next level) for every level; return what the last one yields."""
        rdd = self._source
        large: list[Broadcast[bytes]] = []
        for level, (function, next_partitions) in enumerate(levels):
            rdd = self._python_rdd(rdd, self._wrapped(function, shipped, large), False, False)
            if next_partitions is not None:
                rdd = self._exchanged(rdd, level + 1, next_partitions)
        try:
            served = self._python_rdd.collectAndServeWithJobGroup(rdd, self._group, description, False)
            with _load_from_socket(served, self._raw) as frames:
                return list(frames)
        finally:
            if len(levels) > 1:
                rdd.cleanShuffleDependencies(False)
            for command in large:
                command.destroy()

    def close(self) -> None:
        if self._anchors is not None:
            self._anchors.close()

    def _exchanged(self, rdd: Any, level: int, partitions: int) -> Any:
        pairs = self._pairwise(rdd).asJavaPairRDD()
        partitioner = self._partitioner_of(partitions)
        if self._anchors is not None:
            if level not in self._pairs:
                nothing = self._pairwise(self._context.parallelize([], 1)._jrdd.rdd()).asJavaPairRDD()
                self._pairs[level] = nothing.partitionBy(partitioner).cache()
                self._anchors.add(level, self._pairs[level].rdd())
            moved = pairs.subtractByKey(self._pairs[level], partitioner)
        else:
            moved = pairs.partitionBy(partitioner)
        return self._python_rdd.valueOfPair(moved).rdd()

    def _wrapped(self, function: Any, shipped: Broadcast[bytes], large: list[Broadcast[bytes]]) -> Any:
        context = self._context
        command = pickle.dumps((function, None, self._raw, self._raw), protocol=5)
        broadcasts = [shipped]
        if len(command) > _LARGE_COMMAND:
            moved = context.broadcast(command)
            large.append(moved)
            broadcasts.append(moved)
            command = pickle.dumps(moved, protocol=5)
        context._pickled_broadcast_vars.clear()
        return self._function(
            command,
            context.environment,
            context._python_includes,
            context.pythonExec,
            context.pythonVer,
            [b._jbroadcast for b in broadcasts],
            context._javaAccumulator,
        )

    def _partitioner_of(self, partitions: int) -> Any:
        # The RDD must not have this partitioner already, or Spark would omit the shuffle. A Python RDD that does not
        # preserve partitioning has none.
        if partitions not in self._partitioners:
            self._partitioners[partitions] = self._partitioner(partitions, 0)
        return self._partitioners[partitions]
