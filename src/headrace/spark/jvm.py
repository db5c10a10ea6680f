"""Start the JVM of a driver directly, where possible: one JVM instead of the two that `spark-submit` starts.

It gets options for a quick and quiet start, and not the incubator module whose use the JVM announces on the console.
Elsewhere (YARN, Kubernetes, a configured Spark installation) PySpark starts the JVM.
"""

from __future__ import annotations

import logging
import os
import shlex
import shutil
import struct
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pyspark
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway

from headrace.spark.java import java_command, opened_modules
from headrace.spark.settings import DAEMON_MODULE, driver_variables, is_local, log_configuration

_log = logging.getLogger("headrace.spark")
_EXIT_SECONDS = 10.0
_DAEMON_SECONDS = 1
_PYTHON_DAEMONS = ("pyspark.daemon", DAEMON_MODULE)
_SMALL_HEAP = ("m", "1g", "2g")
_OWN_LAUNCHER_VARIABLES = (
    "SPARK_HOME",
    "SPARK_CONF_DIR",
    "SPARK_SUBMIT_OPTS",
    "PYSPARK_SUBMIT_ARGS",
    "PYSPARK_GATEWAY_PORT",
)
_LAUNCHER_KEYS = ("spark.driver.defaultJavaOptions", "spark.driver.extraClassPath", "spark.driver.extraLibraryPath")
_QUICK_START = (
    # Drivers are often short-lived: optimize only very hot code.
    "-XX:Tier4InvocationThreshold=50000",
    "-XX:Tier4MinInvocationThreshold=6000",
    "-XX:Tier4CompileThreshold=150000",
    "-XX:Tier4BackEdgeThreshold=400000",
)


def gateway_for(settings: dict[str, str]) -> Any | None:
    """Return a gateway to a new JVM; None if PySpark itself should start one."""
    master = settings["spark.master"]
    if any(name in os.environ for name in _OWN_LAUNCHER_VARIABLES) or any(key in settings for key in _LAUNCHER_KEYS):
        return None
    home = Path(pyspark.__file__).parent
    if os.name != "posix" or (home / "conf").exists() or not (is_local(master) or master.startswith("spark://")):
        return None
    environment = dict(os.environ, PYTHONHASHSEED="0", SPARK_CONNECT_MODE="0")
    environment.update(driver_variables(settings))
    if not is_local(master):
        # Unset locally, so that workers import the installed, compiled PySpark instead of a zip of its sources.
        environment["SPARK_HOME"] = str(home)
    return _launched(_command(home, settings), environment)


def _command(home: Path, settings: dict[str, str]) -> list[str]:
    memory = settings["spark.driver.memory"]
    own = shlex.split(settings.get("spark.driver.extraJavaOptions", ""))
    collector = (
        [] if any(option.endswith("GC") for option in own) or not memory.endswith(_SMALL_HEAP) else ["-XX:+UseSerialGC"]
    )
    return [
        java_command() or "java",
        *("-cp", f"{home}/jars/*", f"-Xmx{memory}", "-XX:+IgnoreUnrecognizedVMOptions"),
        *opened_modules(),
        *("--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED"),
        *("-Dio.netty.tryReflectionSetAccessible=true", "-Dio.netty.allocator.type=pooled"),
        "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
        *_QUICK_START,
        *collector,
        f"-Dlog4j2.configurationFile=file:{log_configuration()}",
        *own,
        "org.apache.spark.deploy.SparkSubmit",
        *(part for key, value in settings.items() for part in ("--conf", f"{key}={value}")),
        "pyspark-shell",
    ]


def _launched(command: list[str], environment: dict[str, str]) -> Any:
    """Start the JVM and connect to it. It writes its address to a file, and ends when its standard input is closed."""
    folder = tempfile.mkdtemp()
    try:
        said = os.path.join(folder, "gateway")
        environment["_PYSPARK_DRIVER_CONN_INFO_PATH"] = said
        # In a new session Ctrl-C does not reach it: the program decides when its JVM ends.
        process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, start_new_session=True)
        while process.poll() is None and not os.path.isfile(said):
            time.sleep(0.01)
        if not os.path.isfile(said):
            raise PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})
        port, secret = _address(Path(said).read_bytes())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    os.environ.update(PYSPARK_GATEWAY_PORT=str(port), PYSPARK_GATEWAY_SECRET=secret)
    try:
        gateway: Any = launch_gateway()  # type: ignore[no-untyped-call]
    finally:
        del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]
    gateway.proc = process
    return gateway


def _address(said: bytes) -> tuple[int, str]:
    """Return the port and secret that PythonGatewayServer writes.

    >>> _address(bytes.fromhex("00000050 00000003") + b"abc")
    (80, 'abc')
    """
    port, length = struct.unpack_from(">ii", said)
    return port, said[8 : 8 + length].decode()


def end_jvm(gateway: Any) -> None:
    """Let the JVM stop its context, and wait until it exits. Takes half of the time of `context.stop()`."""
    process = getattr(gateway, "proc", None)
    if process is None:
        return
    try:
        _end_python_daemons(gateway)
    except Exception:
        _log.debug("cannot end the Python daemons: the JVM may be gone", exc_info=True)
    gateway._gateway_client.is_connected = False  # the JVM need not know about garbage from now on
    try:
        process.stdin.close()
        process.wait(_EXIT_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        process.kill()


def _end_python_daemons(gateway: Any) -> None:
    """End Spark's Python workers while the JVM still listens: a worker that outlives it reports a broken pipe."""
    java = gateway.jvm.java
    # Py4J cannot call a method of a stream by name, because its class in the JDK is not public.
    nothing = gateway.new_array(java.lang.Object, 0)
    listed = java.lang.Class.forName("java.util.stream.Stream").getMethod(
        "toArray", gateway.new_array(java.lang.Class, 0)
    )
    for child in listed.invoke(java.lang.ProcessHandle.current().children(), nothing):
        if any(module in child.info().commandLine().orElse("") for module in _PYTHON_DAEMONS):
            child.destroy()
            child.onExit().get(_DAEMON_SECONDS, java.util.concurrent.TimeUnit.SECONDS)
