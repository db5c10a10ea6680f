"""The routes of the service as a whole: what it is, what runs in it, its logs, its configuration, its end."""

from __future__ import annotations

import platform
import resource
import sys
import threading
import time
from typing import Any

from headrace import __version__
from headrace.config.masking import masked
from headrace.driver.executor import threads_of_this_process
from headrace.service.responses.jobs import is_over
from headrace.service.responses.metrics import listed
from headrace.service.rest.backend import Backend
from headrace.service.rest.endpoint import Call, Endpoint, Field, File
from headrace.service.rest.lookup import job_of
from headrace.service.rest.task_managers import shown_threads, task_managers_of

__all__ = ["ENDPOINTS", "FLINK_VERSION"]

FLINK_VERSION = "2.3.0"
"""Whose REST API this is: tools choose what they ask by it."""


def _config(backend: Backend, call: Call) -> dict[str, Any]:
    moment = time.localtime()
    return {
        "refresh-interval": int(backend.configuration.get("web.refresh-interval", "3000")),
        "timezone-name": time.tzname[moment.tm_isdst > 0],
        "timezone-offset": moment.tm_gmtoff * 1000,
        "flink-version": FLINK_VERSION,
        "flink-revision": f"headrace {__version__}",
        "features": {
            "web-submit": backend.programs is not None,
            "web-cancel": True,
            "web-rescale": True,
            "web-history": False,
        },
    }


def _overview(backend: Backend, call: Call) -> dict[str, Any]:
    jobs = backend.jobs()
    statuses = [job.view().status for job in jobs]
    managers = [manager for job in jobs for manager in task_managers_of(job, backend.now())]
    return {
        "taskmanagers": len(managers),
        "slots-total": sum(manager["slotsNumber"] for manager in managers),
        "slots-available": sum(manager["freeSlots"] for manager in managers),
        "jobs-running": sum(not is_over(status) for status in statuses),
        "jobs-finished": statuses.count("FINISHED"),
        "jobs-cancelled": statuses.count("CANCELED"),
        "jobs-failed": statuses.count("FAILED"),
        "flink-version": FLINK_VERSION,
        "flink-commit": f"headrace-{__version__}",
    }


def _manager_config(backend: Backend, call: Call) -> list[dict[str, str]]:
    return [{"key": key, "value": value} for key, value in sorted(masked(backend.configuration).items())]


def _job_config(backend: Backend, call: Call) -> list[dict[str, str]]:
    job_of(backend, call)
    return _manager_config(backend, call)


def _environment(backend: Backend, call: Call) -> dict[str, Any]:
    """The Python process, in the fields that Flink has for its JVM."""
    version = f"{platform.python_implementation()} - {platform.python_version()}"
    return {
        "jvm": {"version": version, "arch": platform.machine(), "options": list(sys.orig_argv[1:2])},
        "classpath": list(sys.path),
    }


def _job_environment(backend: Backend, call: Call) -> dict[str, Any]:
    job_of(backend, call)
    return _environment(backend, call)


def _metrics(backend: Backend, call: Call) -> list[dict[str, str]]:
    overview = _overview(backend, call)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    values: dict[str, float | str] = {
        "numRegisteredTaskManagers": overview["taskmanagers"],
        "numRunningJobs": overview["jobs-running"],
        "taskSlotsTotal": overview["slots-total"],
        "taskSlotsAvailable": overview["slots-available"],
        "Status.JVM.CPU.Time": int((usage.ru_utime + usage.ru_stime) * 1e9),
        "Status.JVM.Memory.Heap.Max": usage.ru_maxrss * 1024,
        "Status.JVM.Threads.Count": threading.active_count(),
    }
    return listed(values, call.names("get") if "get" in call.query else None)


def _thread_dump(backend: Backend, call: Call) -> dict[str, Any]:
    return shown_threads(threads_of_this_process())


def _logs(backend: Backend, call: Call) -> dict[str, Any]:
    files = [(name, backend.logs.find(name).stat()) for name in backend.logs.names()]
    return {"logs": [{"name": n, "size": stat.st_size, "mtime": int(stat.st_mtime * 1000)} for n, stat in files]}


def _log(backend: Backend, call: Call) -> File:
    return File(backend.logs.find(call.path["filename"]))


def _main_log(backend: Backend, call: Call) -> File:
    return File(backend.logs.main())


def _log_url(backend: Backend, call: Call) -> dict[str, Any]:
    return {"url": f"{backend.address}/jobmanager/logs/job-{job_of(backend, call).job_id}.log"}


def _data_sets(backend: Backend, call: Call) -> dict[str, Any]:
    """Cached streams live as long as their program: a cluster has none of its own."""
    return {"dataSets": []}


def _shut_down(backend: Backend, call: Call) -> dict[str, Any]:
    backend.shut_down()
    return {}


ENDPOINTS: tuple[Endpoint[Backend], ...] = (
    Endpoint("GET", "/config", _config, "What this service is"),
    Endpoint("GET", "/overview", _overview, "How many jobs, executors and slots there are"),
    Endpoint("DELETE", "/cluster", _shut_down, "Cancel all jobs and end the service"),
    Endpoint("GET", "/datasets", _data_sets, "Data sets of the cluster: none"),
    Endpoint("GET", "/jobmanager/config", _manager_config, "The configuration of the service, secrets masked"),
    Endpoint("GET", "/jobmanager/environment", _environment, "The process of the service"),
    Endpoint("GET", "/jobmanager/metrics", _metrics, "Metrics of the service", query=(Field("get"),)),
    Endpoint("GET", "/jobmanager/thread-dump", _thread_dump, "What the threads of the service do"),
    Endpoint("GET", "/jobmanager/logs", _logs, "Logs of the service and of the processes of jobs"),
    Endpoint("GET", "/jobmanager/logs/{filename}", _log, "A log, secrets masked"),
    Endpoint("GET", "/jobmanager/log", _main_log, "The log of the service, secrets masked"),
    Endpoint("GET", "/jobmanager/stdout", _main_log, "The log of the service, secrets masked"),
    Endpoint("GET", "/jobs/{jobid}/jobmanager/config", _job_config, "The configuration of the service"),
    Endpoint("GET", "/jobs/{jobid}/jobmanager/environment", _job_environment, "The process of the service"),
    Endpoint("GET", "/jobs/{jobid}/jobmanager/log-url", _log_url, "Where the log of the job is"),
)
