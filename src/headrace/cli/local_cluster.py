"""A cluster on this machine: a Spark master, its workers and the job service, started, looked at and ended together.

1. The master listens on 127.0.0.1, on exactly the port that its workers and jobs will call; it keeps what it knows in a
   folder, so that it can be started again under running jobs. It shows a mark, so that no other one is taken for it.
2. Workers come next, then the service, whose jobs run on the master.
3. Each process is noted in `cluster.json` as soon as it is started: what is started is never forgotten.
4. `start` starts only what does not run: after the loss of a process it repairs the cluster. If it fails, it ends what it
   has started.
5. `stop` cancels the jobs, then ends service, workers and master, in this order. A service that is gone is started for it.
"""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import secrets
import socket
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from headrace.cli.errors import ServiceError
from headrace.cli.processes import NotedProcess, end_process, start_process
from headrace.cli.service_client import TERMINAL, ServiceClient, service_at
from headrace.config import headrace_keys as options
from headrace.config.config_file import CONFIGURATION_FILE_VARIABLE, write_configuration
from headrace.config.configuration import Configuration
from headrace.config.service_directories import cluster_directory, service_directory
from headrace.errors import ConfigurationError, JobExecutionError
from headrace.foundation.private_folders import make_folders

__all__ = ["LocalCluster"]

_HOST = "127.0.0.1"
_START_SECONDS = 60.0
_END_SECONDS = 20.0
_POLL_SECONDS = 0.1
_JAVA_OPTIONS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
_JOBS_BESIDE_EACH_OTHER = 4


class LocalCluster:
    """The cluster whose processes are noted in the directory that the settings name."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._settings = dict(settings)
        self._configuration = Configuration.from_dict(settings)
        self._directory = cluster_directory(settings)
        self._service_directory = service_directory(settings)
        for option in (options.CLUSTER_WORKERS, options.CLUSTER_WORKER_CORES):
            number = self._configuration.get(option)
            if number is not None and number < 1:
                raise ConfigurationError(f"{option.key} is too small", seen=settings[option.key], expected="1 or more")

    # -- starting -------------------------------------------------------------------------------------------------

    def start(self) -> list[str]:
        """Start what does not run; give the names of the processes that were started."""
        with self._alone():
            facts = self._facts()
            facts.setdefault("members", [])
            if "master-port" not in facts:
                facts["master-port"] = self._number(options.CLUSTER_MASTER_PORT) or _free_port()
                facts["web-port"] = _free_port()
            wanted = ["master", *(f"worker-{i + 1}" for i in range(self._number(options.CLUSTER_WORKERS))), "service"]
            missing = [name for name in wanted if not self._running(facts, name)]
            if "master" in missing:
                facts["mark"] = secrets.token_hex(8)
                _require_free(facts["master-port"])
                if _taken(facts["web-port"]) is not None:  # nobody has to know it
                    facts["web-port"] = _free_port()
            started: list[NotedProcess] = []
            try:
                # A worker that does not find its master tries again much later: the master must listen first.
                for together in ([n for n in missing if n == "master"], [n for n in missing if n != "master"]):
                    first = len(started)
                    for name in together:
                        started.append(self._noted_start(name, facts))
                    for member in started[first:]:
                        self._wait_for(member.name, member, facts)
            except BaseException:
                self._take_back(started, facts)
                raise
            return missing

    def _take_back(self, started: list[NotedProcess], facts: dict[str, Any]) -> None:
        """Ends what a failed start has started; what ran before stays."""
        for member in reversed(started):
            end_process(member, _END_SECONDS)
        names = {member.name for member in started}
        facts["members"] = [m for m in facts["members"] if m["name"] not in names]
        if facts["members"]:
            self._write(facts)
        else:
            (self._directory / "cluster.json").unlink(missing_ok=True)

    def _noted_start(self, name: str, facts: dict[str, Any]) -> NotedProcess:
        member = self._start_member(name, facts)
        facts["members"] = [*(m for m in facts["members"] if m["name"] != name), asdict(member)]
        self._write(facts)
        return member

    def _start_member(self, name: str, facts: dict[str, Any]) -> NotedProcess:
        log = self._directory / "log" / f"{name}.log"
        if name == "service":
            return start_process(
                name, [sys.executable, "-m", "headrace.service"], log, self._service_environment(facts)
            )
        master = ("master.Master", "--port", str(facts["master-port"]), "--webui-port", str(facts["web-port"]))
        cores = self._configuration.get(options.CLUSTER_WORKER_CORES) or _cores()
        memory = f"{self._number(options.CLUSTER_WORKER_MEMORY) >> 20}m"
        work = str(self._directory / "work")
        worker = ("worker.Worker", "--webui-port", "0", "-c", str(cores), "-m", memory, "-d", work, _url(facts))
        kind, *arguments = master if name == "master" else worker
        command = [str(_spark_home() / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", "--host", _HOST]
        return start_process(name, [*command, *arguments], log, self._spark_environment(cores, facts))

    def _spark_environment(self, cores: int, facts: dict[str, Any]) -> dict[str, str]:
        recovery = self._directory / "recovery"
        each = max(1, cores * self._number(options.CLUSTER_WORKERS) // _JOBS_BESIDE_EACH_OTHER)
        own = (
            f"{_JAVA_OPTIONS} -Dspark.deploy.recoveryMode=FILESYSTEM -Dspark.deploy.recoveryDirectory={recovery} "
            "-Dspark.deploy.recoveryTimeout=10 "
            f"-Dspark.deploy.defaultCores={each} -Dspark.worker.cleanup.enabled=true "
            # Without this Spark takes the next port if one is taken, and the workers join whoever has it.
            f"-Dspark.port.maxRetries=0 -Dspark.master.ui.title={_title(facts)}"
        )
        return {
            **os.environ,
            "SPARK_HOME": str(_spark_home()),
            "SPARK_LOCAL_IP": _HOST,
            "SPARK_DAEMON_MEMORY": os.environ.get("SPARK_DAEMON_MEMORY", "256m"),
            "SPARK_DAEMON_JAVA_OPTS": f"{own} {os.environ.get('SPARK_DAEMON_JAVA_OPTS', '')}".strip(),
        }

    def _service_environment(self, facts: dict[str, Any]) -> dict[str, str]:
        settings = {
            **self._settings,
            "spark.master": _url(facts),
            options.SERVICE_DIRECTORY.key: str(self._service_directory),
            options.CLUSTER_DIRECTORY.key: str(self._directory),
        }
        path = self._directory / "service-settings.json"
        write_configuration(path, settings)
        (self._service_directory / "service.json").unlink(missing_ok=True)
        return {**os.environ, CONFIGURATION_FILE_VARIABLE: str(path)}

    def _wait_for(self, name: str, member: NotedProcess, facts: dict[str, Any]) -> None:
        ready: Callable[[], bool] = {
            "master": lambda: self._is_own_master(facts),
            "service": lambda: self._noted_service().get("pid") == member.pid,
        }.get(name, lambda: self._workers(facts) >= sum(m["name"].startswith("worker") for m in facts["members"]))
        deadline = time.monotonic() + _START_SECONDS
        while not ready():
            if not member.is_alive() or time.monotonic() > deadline:
                log = self._directory / "log" / f"{name}.log"
                raise JobExecutionError(
                    f"The {name} of the cluster did not start",
                    seen="\n".join(log.read_text(errors="replace").splitlines()[-15:]),
                    remedy=f"all that it said is in {log}; what was started before it has been ended",
                )
            time.sleep(_POLL_SECONDS)

    # -- looking --------------------------------------------------------------------------------------------------

    def status(self) -> dict[str, Any]:
        """Give what runs, as plain values."""
        facts = self._facts()
        members = [NotedProcess(**member) for member in facts.get("members", [])]
        spark = self._spark(facts) if facts else None
        return {
            "running": bool(members) and all(member.is_alive() for member in members),
            "directory": str(self._directory),
            "processes": [{"name": m.name, "pid": m.pid, "alive": m.is_alive()} for m in members],
            "spark": {
                "master": _url(facts),
                "web": f"http://{_HOST}:{facts['web-port']}",
                "workers": self._workers(facts),
                "cores": None if spark is None else spark["cores"],
                "cores-used": None if spark is None else spark["coresused"],
            }
            if members
            else None,
            "service": {"url": self._noted_service().get("url"), "jobs": self._jobs()} if members else None,
        }

    def _spark(self, facts: dict[str, Any]) -> dict[str, Any] | None:
        """What the master says of itself; None if it does not answer, or if it is another one."""
        try:
            with urllib.request.urlopen(f"http://{_HOST}:{facts['web-port']}/json/", timeout=5) as answer:
                found: dict[str, Any] = json.load(answer)
                return found if found["status"] == "ALIVE" and found["url"] == _url(facts) else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _is_own_master(self, facts: dict[str, Any]) -> bool:
        """Whether the master that was started answers: alive, at its address, with the mark that it was given."""
        if self._spark(facts) is None:
            return False
        try:
            with urllib.request.urlopen(f"http://{_HOST}:{facts['web-port']}/", timeout=5) as answer:
                return _title(facts).encode() in answer.read()
        except OSError:
            return False

    def _workers(self, facts: dict[str, Any]) -> int:
        spark = self._spark(facts)
        return 0 if spark is None else sum(worker["state"] == "ALIVE" for worker in spark["workers"])

    def _noted_service(self) -> dict[str, Any]:
        """What the service wrote when it began to listen: its process and its address."""
        try:
            noted: dict[str, Any] = json.loads((self._service_directory / "service.json").read_text())
            return noted
        except (OSError, ValueError):
            return {}

    def _service(self) -> ServiceClient | None:
        url = self._noted_service().get("url")
        return None if url is None else service_at(url, self._settings)

    def _jobs(self) -> int | None:
        """How many run; None if the service does not say it."""
        service = self._service()
        try:
            return None if service is None else sum(job["state"] not in TERMINAL for job in service.jobs())
        except ServiceError:
            return None

    def browser_link(self) -> str | None:
        """Give a link that opens the web UI, once; None if the service does not answer or wants another token."""
        service = self._service()
        try:
            return None if service is None else service.browser_link()
        except ServiceError:
            return None

    # -- ending ---------------------------------------------------------------------------------------------------

    def stop(self) -> dict[str, Any]:
        """Cancel all jobs and end all processes; give what was ended."""
        with self._alone():
            facts = self._facts()
            members = {member["name"]: NotedProcess(**member) for member in facts.get("members", [])}
            if "service" in members and not members["service"].is_alive():
                # Its jobs may live: a new one finds them, and they can be cancelled.
                members["service"] = self._noted_start("service", facts)
                self._wait_for("service", members["service"], facts)
            cancelled = self._cancel_jobs() if "service" in members else []
            order = sorted(members, key=lambda name: (name != "service", name == "master", name))
            ended = [name for name in order if members[name].is_alive()]
            forced = [name for name in order if not end_process(members[name], _END_SECONDS)]
            (self._directory / "cluster.json").unlink(missing_ok=True)
            return {"ended": ended, "forced": forced, "cancelled": cancelled}

    def _cancel_jobs(self) -> list[str]:
        """Cancels what runs. If the service refuses, nothing has been ended yet: its jobs would be left behind."""
        service = self._service()
        running = [] if service is None else [job["jid"] for job in service.jobs() if job["state"] not in TERMINAL]
        for job_id in running:
            assert service is not None
            service.cancel(job_id, _END_SECONDS)
        return running

    # -- what is noted --------------------------------------------------------------------------------------------

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

    def _running(self, facts: dict[str, Any], name: str) -> bool:
        return any(m["name"] == name and NotedProcess(**m).is_alive() for m in facts["members"])

    def _number(self, option: Any) -> int:
        return int(self._configuration.get(option) or 0)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        make_folders(self._directory)
        with open(self._directory / "lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ConfigurationError(
                    "Another command starts or stops this cluster", seen=str(self._directory), remedy="wait for its end"
                ) from None
            yield


def _url(facts: Mapping[str, Any]) -> str:
    return f"spark://{_HOST}:{facts['master-port']}"


def _title(facts: Mapping[str, Any]) -> str:
    return f"headrace-{facts.get('mark', '')}"


def _require_free(port: int) -> None:
    """Raise if somebody listens on the port: Spark would say so only after seconds, and far down in its log."""
    problem = _taken(port)
    if problem is not None:
        raise ConfigurationError(
            f"Another process has the port of the Spark master: {problem}",
            seen=f"{_HOST}:{port}",
            remedy=f"end that process, or set {options.CLUSTER_MASTER_PORT.key} to a free port, or to 0 for any",
        )


def _taken(port: int) -> str | None:
    """Why a port cannot be had; None if it can."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as Spark does: old connections do not matter
        try:
            probe.bind((_HOST, port))
        except OSError as error:
            return error.strerror or str(error)
    return None


def _spark_home() -> Path:
    found = importlib.util.find_spec("pyspark")
    assert found is not None and found.origin is not None  # headrace depends on it
    return Path(found.origin).parent


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        return int(probe.getsockname()[1])
