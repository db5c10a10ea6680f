"""Finds or makes the SparkContext that a job runs on.

1. the session or context that the user gave; 2. an active context of this process; 3. a new one: `local[N,4]` unless the
configuration names a master. A context made here is kept for the next job and stopped when the process ends.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
from typing import Any

from pyspark import SparkConf, SparkContext

from headrace.common.errors import ConfigurationError

_DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.locality.wait": "0s",
    "spark.shuffle.compress": "false",
    "spark.driver.memory": "1g",
}


def spark_context(given: Any, configuration: dict[str, str]) -> SparkContext:
    """The context to run on."""
    if given is not None:
        context = getattr(given, "sparkContext", given)
        if not isinstance(context, SparkContext):
            raise ConfigurationError("spark= takes a SparkSession or a SparkContext", seen=given)
        return context
    active = SparkContext._active_spark_context
    if active is not None and active._jsc is not None:
        return active
    return _new_context(configuration)


def _new_context(configuration: dict[str, str]) -> SparkContext:
    _require_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = dict(_DEFAULTS)
    master = configuration.get("spark.master") or os.environ.get("HEADRACE_SPARK_MASTER") or _local_master()
    if not master.startswith("local"):
        for key in ("spark.driver.host", "spark.driver.bindAddress"):
            if "127.0.0.1" not in master and "localhost" not in master:
                settings.pop(key)
    settings.update(configuration)
    settings["spark.master"] = master
    settings.setdefault("spark.app.name", "headrace")
    conf = SparkConf()
    for key, value in settings.items():
        conf.set(key, value)
    context = SparkContext(conf=conf)
    atexit.register(context.stop)
    return context


def _local_master() -> str:
    """All cores, and tasks are tried again when a Python worker dies."""
    return f"local[{os.cpu_count() or 1},4]"


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if home and os.access(os.path.join(home, "bin", "java"), os.X_OK):
        return
    if shutil.which("java") is None:
        raise ConfigurationError(
            "Spark needs Java 17 or later, and none was found",
            expected="java on PATH, or JAVA_HOME",
            remedy="Debian or Ubuntu: apt-get install openjdk-17-jre-headless; others: install a JDK 17+ and set JAVA_HOME.",
        )
