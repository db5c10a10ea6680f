"""A cluster of this machine, used by its command line as people use it. For the tests here and for `scripts/soak`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import psutil

JOB = Path(__file__).with_name("cluster_job.py")
PACE = "import time\n\n\ndef slowly(number):\n    time.sleep(0.001)\n    return number\n"
LIGHT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
CONFIGURATION = f"""
headrace:
  cluster: {{dir: PLACE/cluster, master-port: 0, worker-cores: 4, worker-memory: 4g}}
  service.dir: PLACE/service
  epoch.target-ms: 700
rest.port: 0
parallelism.default: 1
execution.checkpointing:
  interval: 1 s
  dir: PLACE/checkpoints
  savepoint-dir: PLACE/savepoints
restart-strategy: {{type: fixed-delay, fixed-delay: {{attempts: 10, delay: 500 ms}}}}
spark:
  cores.max: 1
  executor: {{cores: 1, memory: 512m, extraJavaOptions: {LIGHT}}}
  driver: {{memory: 512m}}
"""


class Cluster:
    """The command line of one cluster."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.mark = uuid.uuid4().hex
        (place / "conf").mkdir()
        (place / "conf" / "headrace.yaml").write_text(CONFIGURATION.replace("PLACE", str(place)))
        (place / "modules").mkdir()
        (place / "modules" / "pace.py").write_text(PACE)

    def environment(self) -> dict[str, str]:
        own = {"HEADRACE_CONF_DIR": str(self.place / "conf"), "TMPDIR": str(self.place), "CLUSTER_TEST": self.mark}
        return {**os.environ, **own, "PYSPARK_PYTHON": sys.executable, "SPARK_DAEMON_JAVA_OPTS": LIGHT}

    def start(self, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "headrace", *words]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, env=self.environment(), cwd=self.place, text=True, **pipes)

    def __call__(self, *words: str, code: int = 0) -> str:
        running = self.start(*words)
        stdout, stderr = running.communicate(timeout=120)
        assert running.returncode == code, f"{words}: {running.returncode}\n{stdout}\n{stderr}\n{self.logs()}"
        return stdout

    def json(self, *words: str) -> dict:
        return json.loads(self(*words, "--json"))

    def logs(self) -> str:
        paths = [*self.place.glob("cluster/log/*.log"), *self.place.glob("service/jobs/*/*.log")]
        return "\n".join(f"--- {path}\n{path.read_text(errors='replace')[-1500:]}" for path in paths)

    def processes(self, text: str = "") -> list[psutil.Process]:
        """All processes that the commands have started, however far down, whose command line has a text."""
        found = []
        for process in psutil.process_iter():
            try:
                marked = process.environ().get("CLUSTER_TEST") == self.mark
                if marked and process.status() != psutil.STATUS_ZOMBIE and text in " ".join(process.cmdline()):
                    found.append(process)
            except (psutil.Error, OSError):
                continue
        return found

    def files(self, name: str) -> list[Path]:
        """The files that a job has committed so far."""
        return [path for path in (self.place / "out" / name).rglob("*") if path.is_file() and path.name[0] != "."]

    def numbers(self, name: str) -> list[int]:
        """What a job has committed so far."""
        return sorted(int(line) for path in self.files(name) for line in path.read_text().split())

    def wait_for_more(self, name: str, than: int = 0) -> int:
        """Waits until a job has committed more than so many numbers: each once, and none is missing."""
        deadline = time.monotonic() + 180
        while len(numbers := self.numbers(name)) <= than:
            assert time.monotonic() < deadline, f"{name} stays at {len(numbers)}\n{self('list', '-a')}\n{self.logs()}"
            time.sleep(0.2)
        assert numbers == list(range(1, len(numbers) + 1))
        return len(numbers)

    def submit(self, name: str, *options: str) -> str:
        modules = ("-pyfs", str(self.place / "modules" / "pace.py"))
        words = ("run", "-d", "--json", *modules, *options, str(JOB), str(self.place / "out"), name, "1000000000")
        return json.loads(self(*words))["jobid"]


def kill(processes: list[psutil.Process]) -> None:
    """Kills the first of these processes and waits for its end."""
    assert processes
    os.kill(processes[0].pid, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while alive(processes[0]):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def member(cluster: Cluster, name: str) -> int:
    noted = json.loads((cluster.place / "cluster" / "cluster.json").read_text())["members"]
    return next(entry["pid"] for entry in noted if entry["name"] == name)
