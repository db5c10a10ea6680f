"""The settings of a SparkContext that headrace creates: quiet, quick to start, and fast for many small jobs in a row.

The user's own `spark.*` settings override all of these.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files

from headrace.errors import ConfigurationError

UNIX_SOCKETS = "spark.python.unix.domain.socket.enabled"
SOCKET_FOLDER = "spark.python.unix.domain.socket.dir"
DAEMON_MODULE = "headrace.spark.daemon"
"""The value of `spark.python.daemon.module`. The couriers know it too (`headrace.worker.slot.courier`)."""
_DEFAULTS = {
    "spark.app.name": "headrace",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # With TCP, half the cost of an empty epoch is in Spark's own connections.
    UNIX_SOCKETS: "true",
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.driver.memory": "1g",
    # Overrides spark-defaults.conf: see `check_speculation`.
    "spark.speculation": "false",
    # Only a garbage collection finds the broadcasts of old epochs.
    "spark.cleaner.periodicGC.interval": "1min",
}
_LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
_ATTEMPTS = 4


def settings_for(configuration: dict[str, str]) -> dict[str, str]:
    """Return all settings of the context to create.

    >>> settings_for({"spark.master": "local[2]"})["spark.driver.host"]
    '127.0.0.1'
    """
    master = configuration.get("spark.master") or os.environ.get("HEADRACE_SPARK_MASTER") or local_master()
    settings = dict(_DEFAULTS)
    if master.startswith("local") or "127.0.0.1" in master or "localhost" in master:
        settings.update(_LOOPBACK)
    if not is_local(master) and not _own_daemon(configuration):
        settings[UNIX_SOCKETS] = "false"
    settings.update(configuration)
    settings["spark.master"] = master
    if uses_unix_sockets(settings):
        settings.setdefault("spark.python.daemon.module", DAEMON_MODULE)
    settings.setdefault("spark.pyspark.python", os.environ.get("PYSPARK_PYTHON", sys.executable))
    return settings


def uses_unix_sockets(settings: dict[str, str]) -> bool:
    """Return whether Spark and its Python processes use Unix sockets."""
    return settings[UNIX_SOCKETS].strip().lower() == "true"


def _own_daemon(configuration: dict[str, str]) -> bool:
    """Return whether headrace's daemon runs on the executors. Only it creates the folder of the sockets there."""
    daemons = configuration.get("spark.python.use.daemon", "true").strip().lower() == "true"
    return daemons and configuration.get("spark.python.daemon.module", DAEMON_MODULE) == DAEMON_MODULE


def local_master() -> str:
    """Return a master with all cores that this process may use, which retries tasks when a Python worker dies."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return f"local[{cores},{_ATTEMPTS}]"


def log_configuration() -> str:
    """Return the log4j2 file that keeps Spark quiet."""
    return str(files("headrace.spark") / "log4j2.properties")


def is_local(master: str) -> bool:
    """Return whether tasks run in this process's own JVM.

    >>> is_local("local[2,4]"), is_local("local-cluster[2,1,1024]"), is_local("spark://host:7077")
    (True, False, False)
    """
    return master == "local" or master.startswith("local[")


def check_speculation(master: str, speculation: str | None) -> None:
    """Reject a context on which Spark would run a task twice at the same time.

    Results would still be right, because the driver uses one attempt of each subtask. But the second attempt would load all
    state of the subtask in another executor, and side effects of functions would happen twice in each epoch.

    >>> check_speculation("local[2,4]", "true")  # Spark does not speculate there
    >>> check_speculation("spark://host:7077", "true")
    Traceback (most recent call last):
    ...
    headrace.errors.ConfigurationError: Jobs do not run on a SparkContext with speculation [CONFIGURATION]
      seen:     spark.speculation=true
      expected: functions that run once in each epoch, and state that is loaded once
      remedy:   set spark.speculation to false for this application; headrace.task.timeout ends tasks that hang
    """
    if speculation is not None and speculation.strip().lower() == "true" and not is_local(master):
        raise ConfigurationError(
            "Jobs do not run on a SparkContext with speculation",
            seen=f"spark.speculation={speculation}",
            expected="functions that run once in each epoch, and state that is loaded once",
            remedy="set spark.speculation to false for this application; headrace.task.timeout ends tasks that hang",
        )


def driver_variables(settings: dict[str, str]) -> dict[str, str]:
    """Return the environment variables for the driver's JVM alone. Executors would get settings too."""
    wanted = {}
    if "spark.driver.host" in settings:
        wanted["SPARK_LOCAL_IP"] = settings["spark.driver.host"]
    if "TMPDIR" in os.environ and "spark.local.dir" not in settings:
        wanted["SPARK_LOCAL_DIRS"] = os.environ["TMPDIR"]
    return {name: value for name, value in wanted.items() if name not in os.environ}


@contextmanager
def launch_environment(settings: dict[str, str]) -> Iterator[None]:
    """Set the environment variables for starting the JVM and creating the context."""
    wanted = {"PYSPARK_PYTHON": settings["spark.pyspark.python"]}
    options = os.environ.get("SPARK_SUBMIT_OPTS", "")
    if "log4j2.configurationFile" not in options:
        wanted["SPARK_SUBMIT_OPTS"] = f"{options} -Dlog4j2.configurationFile=file:{log_configuration()}".strip()
    wanted.update(driver_variables(settings))
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
