"""Build an epoch's line of stages in the JVM with few calls over the gateway, and collect the result of the last stage.

This bypasses PySpark's RDD class for two reasons: frames stay raw bytes all the way, and an epoch with almost no data should
cost little more than Spark's own scheduling. A pair of the exchange is (target partition, frame): Python decides where a
frame goes, and the JVM moves it.

On a cluster a subtask should run where its slot is, so each level has an anchor (see `anchors`). An exchange is then
`subtractByKey` of nothing: one shuffle like `partitionBy`, whose only other parent is the anchor. (A union with the anchor
would work too, but it knows only hosts, not executors.) The price is that all frames of a partition in an epoch are in the
executor's memory at once. So a batch job, whose only epoch has all data, has no anchors.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pyspark import Broadcast, SparkContext
from pyspark.serializers import NoOpSerializer
from pyspark.util import _load_from_socket

from headrace.spark.anchors import Anchors

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
