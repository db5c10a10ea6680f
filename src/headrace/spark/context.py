"""Find or create the SparkContext of a job.

1. the session or context that the user gave; 2. an active context of this process; 3. a new one: `local[N,4]` unless the
configuration names a master. A context created here is reused by the next job and stopped when the process ends. The user
stops the others.
"""

from __future__ import annotations

import atexit
import os
import signal
import threading
from pathlib import Path
from typing import Any

from pyspark import SparkConf, SparkContext

from headrace.errors import ConfigurationError
from headrace.foundation.private_folders import NotPrivateError
from headrace.spark.java import explain_failed_start, require_java
from headrace.spark.jvm import end_jvm, gateway_for
from headrace.spark.settings import SOCKET_FOLDER, launch_environment, settings_for, uses_unix_sockets
from headrace.spark.socket_folder import SocketFolder, new_socket_folder

_lock = threading.Lock()
_WHY_NO_CONNECT = "headrace runs RDD jobs, which Spark Connect cannot send"


def spark_context(given: Any, configuration: dict[str, str]) -> SparkContext:
    """Return the context to run on."""
    if given is not None:
        context = getattr(given, "sparkContext", given)
        if not isinstance(context, SparkContext):
            raise ConfigurationError(
                "spark= must be a SparkSession or a SparkContext",
                seen=given,
                remedy=f"a session of Spark Connect has no SparkContext, and {_WHY_NO_CONNECT}: start Spark in this process.",
            )
        if context._jsc is None:
            raise ConfigurationError("The given SparkContext is stopped", remedy="pass a running one, or none.")
        return context
    with _lock:
        active = SparkContext._active_spark_context
        if active is not None and active._jsc is not None:
            return active
        return _new_context(configuration)


def _refuse_spark_connect(configuration: dict[str, str]) -> None:
    for name, value in (
        ("spark.remote", configuration.get("spark.remote")),
        ("SPARK_REMOTE", os.environ.get("SPARK_REMOTE")),
    ):
        if value:
            raise ConfigurationError(
                "Jobs cannot run over Spark Connect",
                seen=f"{name}={value.partition(';')[0]}",  # a token may follow it
                expected=f"a SparkContext in this process: {_WHY_NO_CONNECT}",
                remedy=f"unset {name} and name the cluster with spark.master (spark://host:port, yarn, k8s://...).",
            )


def _socket_folder(settings: dict[str, str]) -> SocketFolder | None:
    """Return the folder for the sockets of this process and its JVM; None where they use TCP."""
    if not uses_unix_sockets(settings):
        return None
    if SOCKET_FOLDER not in settings:
        return new_socket_folder()
    try:
        return SocketFolder(Path(settings[SOCKET_FOLDER]))
    except NotPrivateError as error:
        raise ConfigurationError(
            "Other users could reach the sockets between Spark and Python",
            seen=f"{SOCKET_FOLDER}: {error}",
            remedy="set it to a directory with mode 0700, or unset it: headrace then creates one.",
        ) from None


def _new_context(configuration: dict[str, str]) -> SparkContext:
    _refuse_spark_connect(configuration)
    require_java()
    settings = settings_for(configuration)
    sockets = _socket_folder(settings)
    if sockets is not None:
        settings[SOCKET_FOLDER] = str(sockets.path)
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
        if sockets is not None:
            sockets.release()
        raise explain_failed_start(error, settings) from None
    if main_thread:
        # PySpark's own handler would cancel the jobs of all threads; the environment cancels only the awaited job.
        signal.signal(signal.SIGINT, handler)
    if sockets is not None:
        # The JVM removes the folder and this process's socket when it exits, even if this process is killed. It removes
        # them in reverse order.
        server: Any = context._accumulatorServer
        jvm: Any = context._jvm
        folder = [str(sockets.path)] if sockets.is_ours else []
        for path in (*folder, server.server_address):
            jvm.java.io.File(path).deleteOnExit()
    atexit.register(_at_exit, context, sockets, os.getpid())
    return context


def _at_exit(context: SparkContext, sockets: SocketFolder | None, pid: int) -> None:
    """End Spark with the program, in less than half the time of `stop()`."""
    if os.getpid() != pid:
        return  # this is a fork of the program
    if context._jsc is not None:  # the program has not stopped it
        server: Any = context._accumulatorServer
        server.handle_error = lambda *_: None  # it would report that the JVM has gone
        end_jvm(SparkContext._gateway)
    if sockets is not None:
        sockets.release()
