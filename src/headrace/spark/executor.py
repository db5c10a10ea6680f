"""Run epochs on Spark: one linear RDD job per epoch, a stage per level, couriers in the tasks."""

from __future__ import annotations

import logging
import pickle
import time
import uuid
from functools import partial
from typing import Any

import cloudpickle
from pyspark import Broadcast, SparkContext

from headrace.driver.executor import EpochResult, ExecutorView, ThreadView, read_frames
from headrace.spark.context import spark_context
from headrace.spark.failures import as_epoch_error
from headrace.spark.settings import check_speculation, is_local
from headrace.spark.stages import LevelFunction, StageLine
from headrace.spark.worker import broadcast_value, end_job_slots, run_level
from headrace.worker.job_spec import JobSpec
from headrace.worker.messages import EpochOrder
from headrace.worker.slot.courier import LevelRun
from headrace.worker.slot.folder import job_folder, sweep_dead_jobs
from headrace.worker.slot.launch import CLOSE_SECONDS, end_slots

_log = logging.getLogger("headrace.spark")
_END_ROUNDS = 5
_REGISTRATION_SECONDS = 30.0


class SparkExecutor:
    """Runs the epochs of one job on a SparkContext."""

    def __init__(self, configuration: dict[str, str], given: Any, python: str | None = None) -> None:
        """Find or create the SparkContext; `python` is the interpreter for functions, if the program sets one."""
        self._python = python
        self._context = spark_context(given, configuration)
        check_speculation(str(self._context.master), self._context.getConf().get("spark.speculation"))
        self._local = is_local(str(self._context.master))
        self._line: StageLine | None = None
        self._unfinished = False
        self._used: set[tuple[str, int]] = set()
        self._known_executors = ""
        self._executors: dict[str, int] = {}

    def start(self, spec: JobSpec) -> None:
        """Ship the job once per executor, as a broadcast that only new slots read.

        A rescaled job is started again, because its stages have other partitions. It gets new slots.
        """
        self._spec = spec
        self._names = [tuple(spec.task_name(v.index, p) for p in range(v.partitions)) for v in spec.plan.levels]
        self._line = None
        self._used = set()
        self._group = f"headrace-{spec.job_id}"
        # No other driver of the job may find these slots: a replaced one that wakes up must end only its own.
        self._run = spec.job_id[:8] + uuid.uuid4().hex[:8]
        self._folder = job_folder(self._run)
        sweep_dead_jobs(self._folder)
        self._shipped: Broadcast[bytes] = self._context.broadcast(pickle.dumps(spec, protocol=5))

    def run_epoch(self, order: EpochOrder) -> EpochResult:
        """Run the stages and return the result of the last one."""
        try:
            if self._line is None:
                self._line = self._new_line()
                self._slots = slots_per_executor(self._context, self._local)
                self._known_executors = ""
            if not self._local:
                self._look_for_executors(self._line)
            self._unfinished = True
            frames = self._line.run(self._levels(order), self._shipped, f"{self._spec.job_name} epoch {order.epoch}")
            self._unfinished = False
        except Exception as error:
            raise as_epoch_error(error) from None
        result = read_frames(frames)
        if not self._local:
            self._used |= {(ack.host, ack.pid) for ack in result.acks}
        return result

    def _look_for_executors(self, line: StageLine) -> None:
        """Give executors that joined since the last epoch their share of the work."""
        sc = self._context._jsc.sc()
        ids = str(sc.getExecutorIds().mkString(" "))
        if ids != self._known_executors:
            tasks = tasks_of_executors(self._context)
            if not tasks.keys() >= set(ids.split()):
                return  # Spark's status store lags behind: retry before the next epoch
            self._known_executors = ids
            self._executors = {name: tasks[name] for name in ids.split()}
            self._slots = max([*self._executors.values(), 1])
        line.spread(self._executors)

    def _new_line(self) -> StageLine:
        anchored = not self._local and not self._spec.batch
        first = self._spec.plan.levels[0].partitions
        return StageLine(self._context, self._group, first, anchored=anchored)

    def _levels(self, order: EpochOrder) -> list[tuple[LevelFunction, int | None]]:
        levels = self._spec.plan.levels
        functions: list[tuple[LevelFunction, int | None]] = []
        for level in levels:
            following = levels[level.index + 1].partitions if level.index + 1 < len(levels) else None
            part = order.of_level(level.index)
            run = LevelRun(
                run_id=self._run,
                level=level.index,
                order=cloudpickle.dumps(part, protocol=5),
                tasks=frozenset(partition for _, partition in part.tasks),
                next_partitions=following,
                slots=self._slots,
                spec=partial(broadcast_value, self._shipped),
                names=self._names[level.index],
                epoch=order.epoch,
                folder=str(self._folder) if self._local else None,
                python=self._python,
                python_in_archive=self._spec.files.has_in_archive(self._python),
                limit=order.time_limit,
            )
            functions.append((partial(run_level, run), following))
        return functions

    def interrupt(self) -> None:
        """Cancel the running Spark job, and any that is about to start."""
        if self._context._jsc is not None:
            self._context._jsc.sc().cancelJobGroupAndFutureJobs(self._group)

    def close(self) -> None:
        """End the slots: those of this machine directly, those of other executors by a Spark job.

        Also remove what dead drivers of this user have left behind.
        """
        sweep_dead_jobs(self._folder)
        if self._local:
            end_slots(self._folder)
        if self._context._jsc is None:
            return
        if not self._local:
            self._end_remote_slots()
        if self._wait_for_tasks() and self._local:
            end_slots(self._folder)  # a task may have started one while the job was cancelled
        try:
            if self._line is not None:
                self._line.close()
            self._shipped.destroy()
        except Exception:
            _log.debug("cannot release what the executors hold: Spark may be stopping", exc_info=True)

    def executors(self) -> list[ExecutorView]:
        """Return Spark's executors; on a cluster, without the driver."""
        if self._context._jsc is None:
            return []
        found = self._context._jsc.sc().statusStore().executorList(True)
        known = [found.apply(i) for i in range(found.size())]
        application = "" if self._local else str(self._context.applicationId)
        return [_executor_view(entry, application) for entry in known if self._local or entry.id() != "driver"]

    def threads(self, executor_id: str) -> list[ThreadView]:
        """Return the threads of an executor's JVM, like Spark's own web page."""
        if self._context._jsc is None or all(view.id != executor_id for view in self.executors()):
            return []
        found = self._context._jsc.sc().getExecutorThreadDump(executor_id)
        return [] if found.isEmpty() else [ThreadView(t.threadName(), t.toString()) for t in found.get()]

    def _wait_for_tasks(self) -> bool:
        """Wait until no task of a cancelled or failed epoch is running; return False if there was no such epoch."""
        if not self._unfinished:
            return False
        try:
            tracker = self._context.statusTracker()
            last = max(tracker.getJobIdsForGroup(self._group), default=None)
            job = None if last is None else tracker.getJobInfo(last)
            stages = [] if job is None else list(job.stageIds)
            deadline = time.monotonic() + CLOSE_SECONDS
            while time.monotonic() < deadline:
                found = [tracker.getStageInfo(stage) for stage in stages]
                if not any(stage is not None and stage.numActiveTasks for stage in found):
                    break
                time.sleep(0.02)
        except Exception:
            _log.debug("cannot ask Spark for running tasks: it may be stopping", exc_info=True)
        return True

    def _end_remote_slots(self) -> None:
        """End the slots on all executors, with rounds of small tasks until all slots that ever responded have ended."""
        self._context.setJobGroup(f"{self._group}-end", f"{self._spec.job_name} end")
        ended: set[tuple[str, int]] = set()
        for _ in range(_END_ROUNDS):
            tasks = max(2, self._context.defaultParallelism)
            empty: Any = self._context.parallelize([], tasks)
            found = empty.mapPartitionsWithIndex(partial(end_job_slots, self._run)).collect()
            ended.update(found)
            if not found and self._used <= ended:
                break


def slots_per_executor(context: SparkContext, local: bool) -> int:
    """Return the slot processes per executor: one for each concurrent task. Wait for the first executor if needed."""
    deadline = time.monotonic() + _REGISTRATION_SECONDS
    while True:
        tasks = tasks_of_executors(context, with_driver=local)
        if tasks:
            return max(tasks.values())
        conf = context.getConf()
        cores = conf.get("spark.executor.cores")
        if cores or time.monotonic() > deadline:
            return max(1, int(cores or context.defaultParallelism) // int(conf.get("spark.task.cpus") or 1))
        time.sleep(0.1)


def tasks_of_executors(context: SparkContext, *, with_driver: bool = False) -> dict[str, int]:
    """Return how many tasks each executor runs concurrently, by its id."""
    executors = context._jsc.sc().statusStore().executorList(True)
    known = [executors.apply(i) for i in range(executors.size())]
    tasks = {str(e.id()): int(e.maxTasks()) for e in known if with_driver or e.id() != "driver"}
    return {name: number for name, number in tasks.items() if number > 0}


def _executor_view(summary: Any, application: str) -> ExecutorView:
    host, _, port = str(summary.hostPort()).rpartition(":")
    return ExecutorView(
        id=str(summary.id()),
        host=host,
        port=int(port),
        slots=int(summary.maxTasks()),
        active_tasks=int(summary.activeTasks()),
        memory=int(summary.maxMemory()),
        used_memory=int(summary.memoryUsed()),
        start_ms=int(summary.addTime().getTime()),
        folder=f"{application}/{summary.id()}" if application else "",
    )
