"""A cluster on this machine: a Spark master, its workers and the job service, started, inspected and stopped together.

1. The master starts first, then the workers and the service, whose jobs run on the master.
2. Each process is recorded in `cluster.json` as soon as it is started, so that none is forgotten.
3. `start` starts only what is not running, so it also repairs a cluster that lost a process. If it fails, it ends what it
   has started.
4. `stop` cancels the jobs, then ends service, workers and master, in this order. If the service is gone, it is started
   again to cancel its jobs.

The processes outlive the command. Process ids are reused, so the start time of a process is recorded with its id, and a
process with another start time is never signalled.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from headrace.cli.errors import ServiceError
from headrace.cli.service_client import TERMINAL, ServiceClient, noted_service, service_at
from headrace.cli.spark_daemons import SparkDaemons, master_url, web_url
from headrace.config import headrace_keys as options
from headrace.config.config_file import CONFIGURATION_FILE_VARIABLE, write_configuration
from headrace.config.headrace_keys import cluster_directory, service_directory
from headrace.errors import ConfigurationError, JobExecutionError
from headrace.foundation.private_folders import make_folders

_ENDING_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class NotedProcess:
    """A process by id and start time; plain values, so that it can be stored.

    >>> NotedProcess.of(os.getpid(), "me").is_alive(), NotedProcess(os.getpid(), "another time", "me").is_alive()
    (True, False)
    """

    pid: int
    began: str
    name: str

    @staticmethod
    def of(pid: int, name: str) -> NotedProcess:
        """Return the record of a running process."""
        return NotedProcess(pid, _beginning(pid) or "", name)

    def is_alive(self) -> bool:
        """Return whether the same process is still running."""
        return bool(self.began) and _beginning(self.pid) == self.began


def _beginning(pid: int) -> str | None:
    """Return when a process started, in any format; None if it does not exist or is a zombie."""
    if Path("/proc/self/stat").exists():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        except OSError:
            return None
        return None if fields[0] in "ZX" else f"{boot} {fields[19]}"
    command = ["/bin/ps", "-o", "stat=,lstart=", "-p", str(pid)]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    state, _, beginning = shown.stdout.strip().partition(" ")
    return None if not state or state.startswith("Z") else beginning.strip()


def start_process(name: str, command: Sequence[str], log: Path, environment: Mapping[str, str]) -> NotedProcess:
    """Start a process in a new session; append its output and errors to a log file."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "ab") as output:
        process = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return NotedProcess.of(process.pid, name)


def end_process(noted: NotedProcess, seconds: float) -> bool:
    """End a process, by force if it takes too long; return whether it ended without force."""
    if not noted.is_alive():
        return True
    os.kill(noted.pid, signal.SIGTERM)
    deadline = time.monotonic() + seconds
    while noted.is_alive():
        if time.monotonic() > deadline:
            os.kill(noted.pid, signal.SIGKILL)
            return False
        time.sleep(_ENDING_POLL_SECONDS)
    return True


_START_SECONDS = 60.0
_END_SECONDS = 20.0
_POLL_SECONDS = 0.1
T = TypeVar("T")
_log = logging.getLogger("headrace.cli")


class LocalCluster:
    """The cluster whose processes are recorded in the directory that the settings name."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._settings = dict(settings)
        self._directory = cluster_directory(settings)
        self._spark = SparkDaemons(settings, self._directory)

    # -- start ----------------------------------------------------------------------------------------------------

    def start(self) -> list[str]:
        """Start what is not running, and return the names of the started processes."""
        with self._locked():
            facts = self._facts()
            facts.setdefault("members", [])
            self._spark.choose_ports(facts)
            alive = {m["name"] for m in facts["members"] if NotedProcess(**m).is_alive()}
            missing = [name for name in (*self._spark.names, "service") if name not in alive]
            if "master" in missing:
                self._spark.prepare_master(facts)
            started: list[NotedProcess] = []
            try:
                # A worker that does not find its master retries only much later: the master must listen first.
                for together in ([n for n in missing if n == "master"], [n for n in missing if n != "master"]):
                    first = len(started)
                    for name in together:
                        started.append(self._start(name, facts))
                    for member in started[first:]:
                        self._wait_for(member, facts)
            except BaseException:
                self._roll_back(started, facts)
                raise
            return missing

    def _roll_back(self, started: list[NotedProcess], facts: dict[str, Any]) -> None:
        """End the processes that a failed start has started, and no others."""
        for member in reversed(started):
            end_process(member, _END_SECONDS)
        names = {member.name for member in started}
        facts["members"] = [m for m in facts["members"] if m["name"] not in names]
        if facts["members"]:
            self._write(facts)
        else:
            (self._directory / "cluster.json").unlink(missing_ok=True)

    def _start(self, name: str, facts: dict[str, Any]) -> NotedProcess:
        log = self._directory / "log" / f"{name}.log"
        if name == "service":
            member = start_process(
                name, [sys.executable, "-m", "headrace.service"], log, self._service_environment(facts)
            )
        else:
            member = start_process(name, self._spark.command(name, facts), log, self._spark.environment(facts))
        facts["members"] = [*(m for m in facts["members"] if m["name"] != name), asdict(member)]
        self._write(facts)
        return member

    def _service_environment(self, facts: dict[str, Any]) -> dict[str, str]:
        directory = service_directory(self._settings)
        settings = {
            **self._settings,
            "spark.master": master_url(facts),
            options.SERVICE_DIRECTORY.key: str(directory),
            options.CLUSTER_DIRECTORY.key: str(self._directory),
        }
        path = self._directory / "service-settings.json"
        write_configuration(path, settings)
        (directory / "service.json").unlink(missing_ok=True)
        return {**os.environ, CONFIGURATION_FILE_VARIABLE: str(path)}

    def _wait_for(self, member: NotedProcess, facts: dict[str, Any]) -> None:
        ready: Callable[[], bool] = {
            "master": lambda: self._spark.is_own_master(facts),
            "service": lambda: noted_service(self._settings).get("pid") == member.pid,
        }.get(member.name, lambda: self._spark.workers(facts) >= sum("worker" in m["name"] for m in facts["members"]))
        deadline = time.monotonic() + _START_SECONDS
        while not ready():
            if not member.is_alive() or time.monotonic() > deadline:
                log = self._directory / "log" / f"{member.name}.log"
                raise JobExecutionError(
                    f"The {member.name} of the cluster did not start",
                    seen="\n".join(log.read_text(errors="replace").splitlines()[-15:]),
                    remedy=f"see its log, {log}; the processes that were started with it have been ended",
                )
            time.sleep(_POLL_SECONDS)

    # -- inspect --------------------------------------------------------------------------------------------------

    def status(self) -> dict[str, Any]:
        """Return what is running, as plain values."""
        facts = self._facts()
        members = [NotedProcess(**member) for member in facts.get("members", [])]
        shown: dict[str, Any] = {
            "running": bool(members) and all(member.is_alive() for member in members),
            "directory": str(self._directory),
            "processes": [{"name": m.name, "pid": m.pid, "alive": m.is_alive()} for m in members],
            "spark": None,
            "service": None,
        }
        if members:
            spark = self._spark.status(facts)
            shown["spark"] = {
                "master": master_url(facts),
                "web": web_url(facts),
                "workers": self._spark.workers(facts),
                "cores": None if spark is None else spark["cores"],
                "cores-used": None if spark is None else spark["coresused"],
            }
            running = self._if_available(lambda service: len(_running_jobs(service)))
            shown["service"] = {"url": noted_service(self._settings).get("url"), "jobs": running}
        return shown

    def browser_link(self) -> str | None:
        """Return a link that opens the web UI once; None if the service does not respond or needs another token."""
        return self._if_available(ServiceClient.browser_link)

    def _if_available(self, ask: Callable[[ServiceClient], T]) -> T | None:
        service = self._service()
        try:
            return None if service is None else ask(service)
        except ServiceError as error:
            _log.debug("the service does not respond: %s", error)
            return None

    def _service(self) -> ServiceClient | None:
        url = noted_service(self._settings).get("url")
        return None if url is None else service_at(url, self._settings)

    # -- stop -----------------------------------------------------------------------------------------------------

    def stop(self) -> dict[str, Any]:
        """Cancel all jobs and end all processes; return what was ended."""
        with self._locked():
            facts = self._facts()
            members = {member["name"]: NotedProcess(**member) for member in facts.get("members", [])}
            if "service" in members and not members["service"].is_alive():
                # Its jobs may be alive: a new service finds them and can cancel them.
                members["service"] = self._start("service", facts)
                self._wait_for(members["service"], facts)
            cancelled = self._cancel_jobs() if "service" in members else []
            order = sorted(members, key=lambda name: (name != "service", name == "master", name))
            ended = [name for name in order if members[name].is_alive()]
            forced = [name for name in order if not end_process(members[name], _END_SECONDS)]
            (self._directory / "cluster.json").unlink(missing_ok=True)
            return {"ended": ended, "forced": forced, "cancelled": cancelled}

    def _cancel_jobs(self) -> list[str]:
        """Cancel the running jobs. If the service refuses, no process has been ended yet, so no job is orphaned."""
        service = self._service()
        if service is None:
            return []
        running = _running_jobs(service)
        for job_id in running:
            service.cancel(job_id, _END_SECONDS)
        return running

    # -- cluster.json ---------------------------------------------------------------------------------------------

    def _facts(self) -> dict[str, Any]:
        try:
            facts: dict[str, Any] = json.loads((self._directory / "cluster.json").read_text())
            return facts
        except FileNotFoundError:
            return {}

    def _write(self, facts: dict[str, Any]) -> None:
        temporary = self._directory / "cluster.json.new"
        temporary.write_text(json.dumps(facts, indent=1))
        os.replace(temporary, self._directory / "cluster.json")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        make_folders(self._directory)
        with open(self._directory / "lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ConfigurationError(
                    "Another command is starting or stopping this cluster",
                    seen=str(self._directory),
                    remedy="retry when it has ended",
                ) from None
            yield


def _running_jobs(service: ServiceClient) -> list[str]:
    return [job["jid"] for job in service.jobs() if job["state"] not in TERMINAL]
