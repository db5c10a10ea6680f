"""The routes of task managers, which are Spark's executors. Each belongs to one job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headrace.driver.executor import ExecutorView, ThreadView
from headrace.service.errors import NotFoundError
from headrace.service.responses.metrics import aggregated, listed
from headrace.service.rest.backend import Backend, Handler, JobGateway, job_of, task_manager_id
from headrace.service.rest.endpoint import METRIC_NAMES, Call, Endpoint, Field, File

_MEGABYTE = 1 << 20
_IN_SLOTS = ("INITIALIZING", "RUNNING", "CANCELLING", "FAILING")
"""The states in which a subtask occupies a slot."""


def task_managers_of(job: JobGateway, now: int) -> list[dict[str, Any]]:
    """Return the executors of a job. As in Flink, a slot runs one subtask of each vertex.

    If a host has several executors, or another name than the one Spark knows, the executor of a subtask is unknown. Such
    subtasks are spread evenly over the executors, so that the sums are right.
    """
    executors = job.executors()
    tasks: dict[str, list[int]] = {}
    for vertex in job.view().vertices if executors else ():
        for subtask in vertex.subtasks:
            if subtask.host and subtask.status in _IN_SLOTS:
                able = [executor for executor in executors if executor.host == subtask.host] or executors
                cells = [executor for executor in able for _ in range(executor.slots)] or able
                found = cells[subtask.index % len(cells)]
                tasks.setdefault(task_manager_id(job.job_id, found.id), []).append(subtask.index)
    return [_task_manager(job.job_id, executor, tasks, now) for executor in executors]


def _task_manager(job_id: str, executor: ExecutorView, tasks: dict[str, list[int]], now: int) -> dict[str, Any]:
    name = task_manager_id(job_id, executor.id)
    subtasks = tasks.get(name, [])
    used = min(executor.slots, len(set(subtasks)))
    memory = executor.memory
    return {
        "id": name,
        "path": f"spark://{executor.host}:{executor.port}/{executor.id}",
        "dataPort": executor.port,
        "jmxPort": -1,
        "timeSinceLastHeartbeat": now,
        "slotsNumber": executor.slots,
        "freeSlots": executor.slots - used,
        "assignedTasks": len(subtasks),
        "totalResource": _resource(executor.slots, memory),
        "freeResource": _resource(executor.slots - used, memory - executor.used_memory),
        "hardware": {
            "cpuCores": executor.slots,
            "physicalMemory": memory,
            "freeMemory": memory - executor.used_memory,
            "managedMemory": 0,
        },
        "memoryConfiguration": {
            **dict.fromkeys(("frameworkHeap", "frameworkOffHeap", "taskOffHeap", "networkMemory", "managedMemory"), 0),
            **dict.fromkeys(("jvmMetaspace", "jvmOverhead"), 0),
            **dict.fromkeys(("taskHeap", "totalFlinkMemory", "totalProcessMemory"), memory),
        },
    }


def _resource(cores: int, memory: int) -> dict[str, Any]:
    return {
        "cpuCores": float(cores),
        "taskHeapMemory": memory // _MEGABYTE,
        "taskOffHeapMemory": 0,
        "managedMemory": 0,
        "networkMemory": 0,
        "extendedResources": {},
    }


def _found(backend: Backend, call: Call) -> tuple[JobGateway, ExecutorView, dict[str, Any]]:
    wanted = call.path["taskmanagerid"]
    for job in backend.jobs():
        if wanted.startswith(job.job_id[:8]):
            shown = task_managers_of(job, backend.now())
            for executor, manager in zip(job.executors(), shown):
                if manager["id"] == wanted:
                    return job, executor, manager
    raise NotFoundError(f"No TaskExecutor registered under {wanted[:100]}.")


def _all(backend: Backend, call: Call) -> dict[str, Any]:
    now = backend.now()
    return {"taskmanagers": [manager for job in backend.jobs() for manager in task_managers_of(job, now)]}


def _details(backend: Backend, call: Call) -> dict[str, Any]:
    job, executor, manager = _found(backend, call)
    used = manager["slotsNumber"] - manager["freeSlots"]
    slot = {"jobId": job.job_id, "resource": _resource(1, executor.memory // max(1, executor.slots))}
    each = manager["assignedTasks"] // max(1, used)
    nothing = (
        *("nonHeapUsed", "nonHeapCommitted", "directCount", "directUsed", "directMax", "mappedCount", "mappedUsed"),
        *("mappedMax", "nettyShuffleMemorySegmentsAvailable", "nettyShuffleMemorySegmentsUsed"),
        *("nettyShuffleMemorySegmentsTotal", "nettyShuffleMemoryAvailable", "nettyShuffleMemoryUsed"),
        "nettyShuffleMemoryTotal",
    )
    return {
        **manager,
        "allocatedSlots": [{**slot, "assignedTasks": each} for _ in range(used)],
        "metrics": {
            "heapUsed": executor.used_memory,
            "heapCommitted": executor.memory,
            "heapMax": executor.memory,
            "nonHeapMax": -1,
            **dict.fromkeys(nothing, 0),
            "garbageCollectors": [],
        },
    }


def _values(executor: ExecutorView) -> dict[str, float | str]:
    return {
        "Status.JVM.Memory.Heap.Used": executor.used_memory,
        "Status.JVM.Memory.Heap.Max": executor.memory,
        "activeTasks": executor.active_tasks,
        "slots": executor.slots,
    }


def _metrics(backend: Backend, call: Call) -> list[dict[str, str]]:
    return listed(_values(_found(backend, call)[1]), call.metrics())


def _all_metrics(backend: Backend, call: Call) -> list[dict[str, Any]]:
    chosen = call.names("taskmanagers")
    values = [
        _values(executor)
        for job in backend.jobs()
        for executor in job.executors()
        if not chosen or task_manager_id(job.job_id, executor.id) in chosen
    ]
    return aggregated(values, call.metrics(), call.names("agg"))


def _logs(backend: Backend, call: Call) -> dict[str, Any]:
    """Return the accessible logs. Executors write their logs on their own machines."""
    return listed_logs(backend.executor_logs.of(_found(backend, call)[1]))


def listed_logs(files: Mapping[str, Path]) -> dict[str, Any]:
    """Return log files in Flink's JSON."""
    found = [(name, path.stat()) for name, path in files.items()]
    return {"logs": [{"name": n, "size": stat.st_size, "mtime": int(stat.st_mtime * 1000)} for n, stat in found]}


def _log(fixed: str | None = None) -> Handler:
    """Return the handler for a log with a fixed name, or for the one that the path names."""

    def handle(backend: Backend, call: Call) -> File:
        name = call.path["filename"] if fixed is None else fixed
        found = backend.executor_logs.of(_found(backend, call)[1]).get(name)
        if found is None:
            raise NotFoundError("This file does not exist in TaskManager log dir.")
        return File(found)

    return handle


def _threads(backend: Backend, call: Call) -> dict[str, Any]:
    job, executor, _ = _found(backend, call)
    return listed_threads(job.threads(executor.id))


def listed_threads(threads: list[ThreadView]) -> dict[str, Any]:
    """Return threads in Flink's JSON.

    >>> listed_threads([ThreadView("main", "at x")])
    {'threadInfos': [{'threadName': 'main', 'stringifiedThreadInfo': 'at x'}]}
    """
    return {"threadInfos": [{"threadName": t.name, "stringifiedThreadInfo": t.text} for t in threads]}


def _log_url(backend: Backend, call: Call) -> dict[str, Any]:
    job_of(backend, call)
    return {"url": f"{backend.address}/taskmanagers/{_found(backend, call)[2]['id']}/log"}


ENDPOINTS: tuple[Endpoint[Backend], ...] = (
    Endpoint("GET", "/taskmanagers", _all, "Spark's executors"),
    Endpoint(
        *("GET", "/taskmanagers/metrics", _all_metrics, "Aggregated metrics of the executors"),
        query=(METRIC_NAMES, Field("agg"), Field("taskmanagers")),
    ),
    Endpoint("GET", "/taskmanagers/{taskmanagerid}", _details, "An executor"),
    Endpoint("GET", "/taskmanagers/{taskmanagerid}/metrics", _metrics, "Metrics of an executor", query=(METRIC_NAMES,)),
    Endpoint("GET", "/taskmanagers/{taskmanagerid}/logs", _logs, "Accessible logs of an executor"),
    Endpoint("GET", "/taskmanagers/{taskmanagerid}/logs/{filename}", _log(), "A log of an executor, secrets masked"),
    # Spark sends its own log and the output of functions to standard error
    Endpoint("GET", "/taskmanagers/{taskmanagerid}/log", _log("stderr"), "The log of an executor, secrets masked"),
    Endpoint(
        "GET", "/taskmanagers/{taskmanagerid}/stdout", _log("stdout"), "The output of an executor, secrets masked"
    ),
    Endpoint("GET", "/taskmanagers/{taskmanagerid}/thread-dump", _threads, "Stack traces of an executor's threads"),
    Endpoint("GET", "/jobs/{jobid}/taskmanagers/{taskmanagerid}/log-url", _log_url, "The address of an executor's log"),
)
