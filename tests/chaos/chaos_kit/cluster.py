"""A Spark standalone cluster on this machine, bound to the loopback address: a master, a worker, two executors per job."""

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
def cluster(folder: Path) -> Iterator[dict[str, str]]:
    """Starts it; gives the settings with which a job runs on it."""
    folder.mkdir(parents=True, exist_ok=True)
    home = Path(pyspark.__file__).parent
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    master = f"spark://127.0.0.1:{port}"
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": LIGHT,
    }

    def start(name: str, *arguments: str) -> subprocess.Popen[bytes]:
        with open(folder / f"{name}.log", "w") as log:
            return subprocess.Popen(
                [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{arguments[0]}", *arguments[1:]],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    address = ("--host", "127.0.0.1", "--webui-port", "0")
    processes = [start("master", "master.Master", *address, "--port", str(port))]
    work = ("-c", "2", "-m", "2g", "-d", str(folder / "work"))
    processes.append(start("worker", "worker.Worker", *address, *work, master))
    try:
        yield {
            "spark.master": master,
            "spark.executor.cores": "1",
            "spark.executor.memory": "512m",
            "spark.executor.extraJavaOptions": LIGHT,
            "spark.cores.max": "2",
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
        }
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(30)
