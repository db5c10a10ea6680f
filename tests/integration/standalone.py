"""A Spark standalone cluster of this machine, from the jars of the pyspark package."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

LIGHT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@contextmanager
def standalone(place: Path, *workers: int, memory: str = "2g") -> Iterator[str]:
    """Starts a master and workers with so many cores each; gives the master's URL. `place` has a short path, for sockets."""
    home = Path(pyspark.__file__).parent
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    master = f"spark://127.0.0.1:{port}"
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "TMPDIR": str(place),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": LIGHT,
    }

    def start(name: str, *arguments: str) -> subprocess.Popen[bytes]:
        with open(place / f"{name}.log", "w") as log:
            return subprocess.Popen(
                [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{arguments[0]}", *arguments[1:]],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    address = ("--host", "127.0.0.1", "--webui-port", "0")
    processes = [start("master", "master.Master", *address, "--port", str(port))]
    for number, cores in enumerate(workers):
        work = ("-c", str(cores), "-m", memory, "-d", str(place / f"work-{number}"))
        processes.append(start(f"worker-{number}", "worker.Worker", *address, *work, master))
    try:
        yield master
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(30)
