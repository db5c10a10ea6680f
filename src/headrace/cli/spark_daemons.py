"""The Spark master and workers of a local cluster: how to start them, and what the master reports.

The master listens on 127.0.0.1, on exactly the port that its workers and jobs use. It stores its state in a folder, so that
it can be restarted under running jobs. Its web page shows a mark, so that no other master is mistaken for it.
`facts` is the content of the cluster's `cluster.json`.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import secrets
import socket
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headrace.config import headrace_keys as options
from headrace.config.config_options import ConfigOption
from headrace.config.configuration import Configuration
from headrace.errors import ConfigurationError

_HOST = "127.0.0.1"
_UNASSIGNED = range(20_000, 32_768)
"""Ports below those that Linux gives to outgoing connections."""
_JAVA_OPTIONS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
_CONCURRENT_JOBS = 4
_log = logging.getLogger("headrace.cli")


def spark_home() -> Path:
    """Return the folder of the installed PySpark, without importing it."""
    found = importlib.util.find_spec("pyspark")
    assert found is not None and found.origin is not None  # headrace depends on it
    return Path(found.origin).parent


def master_url(facts: Mapping[str, Any]) -> str:
    """Return the address of the master for workers and jobs."""
    return f"spark://{_HOST}:{facts['master-port']}"


def web_url(facts: Mapping[str, Any]) -> str:
    """Return the address of the master's web page."""
    return f"http://{_HOST}:{facts['web-port']}"


class SparkDaemons:
    """Starts the processes of one cluster in its directory, and asks its master."""

    def __init__(self, settings: Mapping[str, str], directory: Path) -> None:
        self._configuration = Configuration.from_dict(settings)
        self._directory = directory
        for option in (options.CLUSTER_WORKERS, options.CLUSTER_WORKER_CORES):
            number = self._configuration.get(option)
            if number is not None and number < 1:
                raise ConfigurationError(f"{option.key} is too small", seen=settings[option.key], expected="1 or more")
        self.names = ["master", *(f"worker-{i + 1}" for i in range(self._number(options.CLUSTER_WORKERS)))]

    def choose_ports(self, facts: dict[str, Any]) -> None:
        """Choose the ports of a new cluster."""
        if "master-port" not in facts:
            facts["master-port"] = self._number(options.CLUSTER_MASTER_PORT) or _free_port()
            facts["web-port"] = _free_port()

    def prepare_master(self, facts: dict[str, Any]) -> None:
        """Give the master that starts next a new mark. Raise if another process listens on its port."""
        facts["mark"] = secrets.token_hex(8)
        _require_free(facts["master-port"])
        if _taken(facts["web-port"]) is not None:  # nobody relies on this port
            facts["web-port"] = _free_port()

    def command(self, name: str, facts: Mapping[str, Any]) -> list[str]:
        """Return the command that starts the process with this name."""
        master = ("master.Master", "--port", str(facts["master-port"]), "--webui-port", str(facts["web-port"]))
        memory = f"{self._number(options.CLUSTER_WORKER_MEMORY) >> 20}m"
        limits = ("-c", str(self._cores()), "-m", memory, "-d", str(self._directory / "work"))
        worker = ("worker.Worker", "--webui-port", "0", *limits, master_url(facts))
        kind, *arguments = master if name == "master" else worker
        program = str(spark_home() / "bin" / "spark-class")
        return [program, f"org.apache.spark.deploy.{kind}", "--host", _HOST, *arguments]

    def environment(self, facts: Mapping[str, Any]) -> dict[str, str]:
        """Return the environment variables of the processes."""
        recovery = self._directory / "recovery"
        each = max(1, self._cores() * self._number(options.CLUSTER_WORKERS) // _CONCURRENT_JOBS)
        own = (
            f"{_JAVA_OPTIONS} -Dspark.deploy.recoveryMode=FILESYSTEM -Dspark.deploy.recoveryDirectory={recovery} "
            "-Dspark.deploy.recoveryTimeout=10 "
            f"-Dspark.deploy.defaultCores={each} -Dspark.worker.cleanup.enabled=true "
            # Without this, Spark uses the next port if one is taken, and the workers join the process that has it.
            f"-Dspark.port.maxRetries=0 -Dspark.master.ui.title={_title(facts)}"
        )
        return {
            **os.environ,
            "SPARK_HOME": str(spark_home()),
            "SPARK_LOCAL_IP": _HOST,
            "SPARK_DAEMON_MEMORY": os.environ.get("SPARK_DAEMON_MEMORY", "256m"),
            "SPARK_DAEMON_JAVA_OPTS": f"{own} {os.environ.get('SPARK_DAEMON_JAVA_OPTS', '')}".strip(),
        }

    def status(self, facts: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the master's own report; None if it does not respond, or if it is another master."""
        try:
            with urllib.request.urlopen(f"{web_url(facts)}/json/", timeout=5) as response:  # noqa: S310 - loopback
                found: dict[str, Any] = json.load(response)
                return found if found["status"] == "ALIVE" and found["url"] == master_url(facts) else None
        except (OSError, ValueError, KeyError, TypeError) as error:
            _log.debug("no report of the Spark master: %r", error)
            return None

    def is_own_master(self, facts: Mapping[str, Any]) -> bool:
        """Return whether the master that was started responds: alive, at its address, with its mark."""
        if self.status(facts) is None:
            return False
        try:
            with urllib.request.urlopen(f"{web_url(facts)}/", timeout=5) as response:  # noqa: S310 - loopback
                return _title(facts).encode() in response.read()
        except OSError as error:
            _log.debug("no web page of the Spark master: %r", error)
            return False

    def workers(self, facts: Mapping[str, Any]) -> int:
        """Return how many workers the master knows to be alive."""
        status = self.status(facts)
        return 0 if status is None else sum(worker["state"] == "ALIVE" for worker in status["workers"])

    def _number(self, option: ConfigOption[int]) -> int:
        return self._configuration.get(option) or 0

    def _cores(self) -> int:
        here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return self._configuration.get(options.CLUSTER_WORKER_CORES) or here


def _title(facts: Mapping[str, Any]) -> str:
    return f"headrace-{facts.get('mark', '')}"


def _require_free(port: int) -> None:
    """Raise if another process listens on the port. Spark would report that only after seconds, deep in its log."""
    problem = _taken(port)
    if problem is not None:
        raise ConfigurationError(
            f"Another process uses the port of the Spark master: {problem}",
            seen=f"{_HOST}:{port}",
            remedy=f"end that process, or set {options.CLUSTER_MASTER_PORT.key} to a free port, or to 0 for any",
        )


def _taken(port: int) -> str | None:
    """Return why a port cannot be used; None if it can."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # like Spark: old connections do not matter
        try:
            probe.bind((_HOST, port))
        except OSError as error:
            return error.strerror or str(error)
    return None


def _free_port() -> int:
    """Return a port that the system gives nobody else by itself, before the slow start of a JVM has taken it."""
    for _ in range(100):
        port = _UNASSIGNED.start + secrets.randbelow(len(_UNASSIGNED))
        if _taken(port) is None:
            return port
    raise ConfigurationError(
        "There is no free port for the cluster",
        seen=f"100 ports below {_UNASSIGNED.stop} are taken",
        remedy="set headrace.cluster.master-port",
    )
