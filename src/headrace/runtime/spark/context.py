"""Finds or makes the SparkContext that a job runs on.

1. the session or context that the user gave; 2. an active context of this process; 3. a new one: `local[N,4]` unless the
configuration names a master. A context made here is kept for the next job and stopped when the process ends; the others are the
user's to stop.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from typing import Any

from pyspark import SparkConf, SparkContext

from headrace.common.errors import ConfigurationError
from headrace.runtime.spark.java import explain_failed_start, require_java
from headrace.runtime.spark.settings import launch_environment, settings_for

_lock = threading.Lock()


def spark_context(given: Any, configuration: dict[str, str]) -> SparkContext:
    """The context to run on."""
    if given is not None:
        context = getattr(given, "sparkContext", given)
        if not isinstance(context, SparkContext):
            raise ConfigurationError("spark= takes a SparkSession or a SparkContext", seen=given)
        if context._jsc is None:
            raise ConfigurationError("The given SparkContext is stopped", remedy="give one that runs, or none.")
        return context
    with _lock:
        active = SparkContext._active_spark_context
        if active is not None and active._jsc is not None:
            return active
        return _new_context(configuration)


def is_local(master: str) -> bool:
    """Whether tasks run in this process's own JVM.

    >>> is_local("local[2,4]"), is_local("local-cluster[2,1,1024]"), is_local("spark://host:7077")
    (True, False, False)
    """
    return master == "local" or master.startswith("local[")


def _new_context(configuration: dict[str, str]) -> SparkContext:
    require_java()
    settings = settings_for(configuration)
    conf = SparkConf(loadDefaults=False)
    for key, value in settings.items():
        conf.set(key, value)
    main_thread = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    try:
        with launch_environment(settings):
            context = SparkContext(conf=conf)
    except Exception as error:
        raise explain_failed_start(error, settings) from error
    if main_thread:
        # PySpark's own handler would cancel the jobs of all threads; the environment cancels the one that is waited for.
        signal.signal(signal.SIGINT, handler)
    atexit.register(context.stop)
    return context
