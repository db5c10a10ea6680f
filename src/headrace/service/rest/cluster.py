"""The routes of the service as a whole: version, overview, logs, configuration, shutdown."""

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
from headrace.service.rest.backend import Backend, Handler, job_of
from headrace.service.rest.endpoint import METRIC_NAMES, Call, Endpoint, File
from headrace.service.rest.task_managers import listed_logs, listed_threads, task_managers_of

FLINK_VERSION = "2.3.0"
"""The version of Flink's REST API that this service implements. Tools choose their requests by it."""


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


def _environment(backend: Backend, call: Call) -> dict[str, Any]:
    """Return the Python process in the fields that Flink has for its JVM."""
    version = f"{platform.python_implementation()} - {platform.python_version()}"
    return {
        "jvm": {"version": version, "arch": platform.machine(), "options": list(sys.orig_argv[1:2])},
        "classpath": list(sys.path),
    }


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
    return listed(values, call.metrics())


def _logs(backend: Backend, call: Call) -> dict[str, Any]:
    return listed_logs({name: backend.logs.find(name) for name in backend.logs.names()})


def _log(backend: Backend, call: Call) -> File:
    return File(backend.logs.find(call.path["filename"]))


def _main_log(backend: Backend, call: Call) -> File:
    return File(backend.logs.main())


def _log_url(backend: Backend, call: Call) -> dict[str, Any]:
    return {"url": f"{backend.address}/jobmanager/logs/job-{job_of(backend, call).job_id}.log"}


def _threads(backend: Backend, call: Call) -> dict[str, Any]:
    return listed_threads(threads_of_this_process())


def _of_job(handler: Handler) -> Handler:
    """Return the handler for the same route below a job: the job must exist."""

    def handle(backend: Backend, call: Call) -> Any:
        job_of(backend, call)
        return handler(backend, call)

    return handle


def _data_sets(backend: Backend, call: Call) -> dict[str, Any]:
    """Return none: cached streams belong to their program, not to the cluster."""
    return {"dataSets": []}


def _shut_down(backend: Backend, call: Call) -> dict[str, Any]:
    backend.shut_down()
    return {}


ENDPOINTS: tuple[Endpoint[Backend], ...] = (
    Endpoint("GET", "/config", _config, "Version and features of the service"),
    Endpoint("GET", "/overview", _overview, "Numbers of jobs, executors and slots"),
    Endpoint("DELETE", "/cluster", _shut_down, "Cancel all jobs and end the service"),
    Endpoint("GET", "/datasets", _data_sets, "Data sets of the cluster: none"),
    Endpoint("GET", "/jobmanager/config", _manager_config, "The configuration of the service, secrets masked"),
    Endpoint("GET", "/jobmanager/environment", _environment, "The process of the service"),
    Endpoint("GET", "/jobmanager/metrics", _metrics, "Metrics of the service", query=(METRIC_NAMES,)),
    Endpoint("GET", "/jobmanager/thread-dump", _threads, "Stack traces of the service's threads"),
    Endpoint("GET", "/jobmanager/logs", _logs, "Logs of the service and of its jobs"),
    Endpoint("GET", "/jobmanager/logs/{filename}", _log, "A log, secrets masked"),
    Endpoint("GET", "/jobmanager/log", _main_log, "The log of the service, secrets masked"),
    Endpoint("GET", "/jobmanager/stdout", _main_log, "The log of the service, secrets masked"),
    Endpoint("GET", "/jobs/{jobid}/jobmanager/config", _of_job(_manager_config), "The configuration of the service"),
    Endpoint("GET", "/jobs/{jobid}/jobmanager/environment", _of_job(_environment), "The process of the service"),
    Endpoint("GET", "/jobs/{jobid}/jobmanager/log-url", _log_url, "The address of the job's log"),
)
