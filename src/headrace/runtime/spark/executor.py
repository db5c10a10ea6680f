"""Epochs on Spark: one linear RDD job per epoch, a stage per level, couriers in the tasks."""

from __future__ import annotations

import pickle
from typing import Any

import cloudpickle
from pyspark import RDD, Broadcast, SparkContext
from pyspark.serializers import NoOpSerializer

from headrace.runtime.spark.context import spark_context
from headrace.runtime.spark.worker import EndSlots, RunLevel, SpecBytes
from headrace.runtime.task.courier import LevelRun, end_slots
from headrace.runtime.task.job_spec import JobSpec
from headrace.runtime.task.messages import EpochOrder


class SparkExecutor:
    """Runs the epochs of one job on a SparkContext."""

    def __init__(self, configuration: dict[str, str], given: Any) -> None:
        self._context = spark_context(given, configuration)

    def start(self, spec: JobSpec) -> None:
        """Ships the job: once per executor, as a broadcast that only new slots read."""
        self._spec = spec
        self._group = f"headrace-{spec.job_id}"
        self._shipped: Broadcast[bytes] = self._context.broadcast(pickle.dumps(spec, protocol=5))
        first = spec.plan.levels[0].partitions
        self._seed = self._context.parallelize(range(first), first)

    def run_epoch(self, order: EpochOrder) -> list[bytes]:
        """Builds the line of stages and collects what arrives at its end."""
        self._context.setJobGroup(self._group, f"{self._spec.job_name} epoch {order.epoch}", interruptOnCancel=False)
        levels = self._spec.plan.levels
        rdd: RDD[Any] = self._seed
        for level in levels:
            following = levels[level.index + 1].partitions if level.index + 1 < len(levels) else None
            part = order.of_level(level.index)
            run = LevelRun(
                job_id=self._spec.job_id,
                level=level.index,
                order=cloudpickle.dumps(part, protocol=5),
                tasks=frozenset(partition for _, partition in part.tasks),
                next_partitions=following,
                slots=_slots(self._context),
                spec=SpecBytes(self._shipped),
            )
            rdd = rdd.mapPartitionsWithIndex(RunLevel(run))
            if following is not None:
                rdd = _exchange(self._context, rdd, following)
        return rdd.collect()

    def interrupt(self) -> None:
        """Cancels the Spark job that is running."""
        self._context.cancelJobGroup(self._group)

    def close(self) -> None:
        """Ends the slots: directly those of this machine, by a Spark job those of other executors."""
        if self._context._jsc is not None:
            if not str(self._context.master).startswith("local"):
                self._end_remote_slots()
            self._shipped.unpersist()
        end_slots(self._spec.job_id)

    def _end_remote_slots(self) -> None:
        partitions = max(2, self._context.defaultParallelism * 2)
        job_id = self._spec.job_id
        self._context.setJobGroup(self._group + "-end", f"{self._spec.job_name} end")
        self._context.parallelize(range(partitions), partitions).foreach(EndSlots(job_id))


def _exchange(context: SparkContext, rdd: RDD[Any], partitions: int) -> RDD[Any]:
    """Moves frames to the partitions that Python chose. As `RDD.partitionBy`, but the frames stay raw bytes.

    The RDD must not claim to be partitioned already, else Spark would leave the shuffle out.
    """
    rdd._bypass_serializer = True  # type: ignore[attr-defined]
    jvm = context._jvm
    pairs = jvm.PairwiseRDD(rdd._jrdd.rdd()).asJavaPairRDD()
    partitioner = jvm.PythonPartitioner(partitions, 0)
    return RDD(jvm.PythonRDD.valueOfPair(pairs.partitionBy(partitioner)), context, NoOpSerializer())


def _slots(context: SparkContext) -> int:
    """Slot processes per executor: one for each task that runs there at a time."""
    if str(context.master).startswith("local"):
        return int(context.defaultParallelism)
    cores = context.getConf().get("spark.executor.cores")
    return int(cores) if cores else int(context.defaultParallelism)
