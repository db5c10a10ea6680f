"""Finds or makes the SparkContext that a job runs on.

1. the session or context that the user gave; 2. an active context of this process; 3. a new one: `local[N,4]` unless the
configuration names a master. A context made here is kept for the next job and stopped when the process ends; the others are the
user's to stop.
"""

from __future__ import annotations

import atexit
import signal
import threading
from typing import Any

from pyspark import SparkConf, SparkContext

from headrace.common.errors import ConfigurationError
from headrace.runtime.spark.java import explain_failed_start, require_java
from headrace.runtime.spark.jvm import end_jvm, gateway_for
from headrace.runtime.spark.settings import launch_environment, settings_for

_lock = threading.Lock()


def spark_context(given: Any, configuration: dict[str, str]) -> SparkContext:
    """The context to run on."""
    if given is not None:
        context = getattr(given, "sparkContext", given)
        if not isinstance(context, SparkContext):
            raise ConfigurationError(
                "spark= takes a SparkSession or a SparkContext",
                seen=given,
                remedy="a session of Spark Connect has no SparkContext: start one on the driver itself.",
            )
        if context._jsc is None:
            raise ConfigurationError("The given SparkContext is stopped", remedy="give one that runs, or none.")
        return context
    with _lock:
        active = SparkContext._active_spark_context
        if active is not None and active._jsc is not None:
            return active
        return _new_context(configuration)


def _new_context(configuration: dict[str, str]) -> SparkContext:
    require_java()
    settings = settings_for(configuration)
    conf = SparkConf(loadDefaults=False)
    for key, value in settings.items():
        conf.set(key, value)
    main_thread = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    gateway = None
    try:
        if SparkContext._gateway is None:
            gateway = gateway_for(settings)
        with launch_environment(settings):
            context = SparkContext(conf=conf, gateway=gateway)
    except Exception as error:
        end_jvm(gateway)
        raise explain_failed_start(error, settings) from None
    if main_thread:
        # PySpark's own handler would cancel the jobs of all threads; the environment cancels the one that is waited for.
        signal.signal(signal.SIGINT, handler)
    server: Any = context._accumulatorServer
    if isinstance(server.server_address, str):
        # The JVM removes PySpark's socket at its end, even if this process is killed.
        jvm: Any = context._jvm
        jvm.java.io.File(server.server_address).deleteOnExit()
    atexit.register(_at_exit, context)
    return context


def _at_exit(context: SparkContext) -> None:
    """Ends Spark with the program, in less than half the time that `stop()` takes."""
    if context._jsc is None:
        return  # the program has stopped it
    server: Any = context._accumulatorServer
    server.handle_error = lambda *_: None  # it would report that the JVM has left
    end_jvm(SparkContext._gateway)
