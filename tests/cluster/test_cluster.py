"""`headrace cluster` and all modes of deployment, with real processes of this machine, by the command line.

One cluster for all tests: a Spark master, two workers, the service. Three jobs run on it at once, lose an executor, a worker
and the master, and go on; one is stopped with a savepoint and upgraded. Nothing is lost, and nothing is left behind.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from cluster_kit import JOB, Cluster, kill, member

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("c"))
    made("cluster", "start")
    yield made
    made("cluster", "stop")
    for process in made.processes():
        process.kill()


@pytest.fixture(scope="module")
def jobs(cluster: Cluster) -> dict[str, str]:
    """Three jobs at once on the service."""
    return {name: cluster.submit(name) for name in ("one", "two", "three")}


def test_application_mode(cluster: Cluster) -> None:
    """The program's main runs in a driver that a Spark worker has started."""
    status = cluster.json("cluster", "status")
    own = ("-D", f"spark.master={status['spark']['master']}", "-pyfs", str(cluster.place / "modules"))
    words = (*own, str(JOB), str(cluster.place / "out"), "application", "300")
    assert json.loads(cluster("run-application", "--json", *words))["submission"].startswith("driver-")


def test_session_mode_with_three_jobs(cluster: Cluster, jobs: dict[str, str]) -> None:
    for name in jobs:
        cluster.wait_for_more(name)
    running = {job["name"]: job["state"] for job in cluster.json("list")}
    assert running == {"one": "RUNNING", "two": "RUNNING", "three": "RUNNING"}
    assert len(cluster.processes("headrace.service.job_process")) == 3, "one master process for each"
    status = cluster.json("cluster", "status")
    assert status["running"] and status["spark"]["workers"] == 2 and status["service"]["jobs"] == 3
    assert "two" in cluster("list") and jobs["two"] in cluster("list", "--running")
    assert cluster("cluster", "start").startswith("Everything is running already.")
    cluster.wait_for_more("application", than=299)
    assert len(cluster.numbers("application")) == 300


def test_logs_and_threads_of_executors(cluster: Cluster, jobs: dict[str, str]) -> None:
    url = cluster.json("cluster", "status")["service"]["url"]
    token = (cluster.place / "service" / "tokens" / urlsplit(url).netloc).read_text()

    def get(path: str) -> str:
        request = urllib.request.Request(url + path, headers={"Authorization": f"Bearer {token.strip()}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return str(answer.read().decode())

    managers = json.loads(get("/taskmanagers"))["taskmanagers"]
    places = [f"/taskmanagers/{m['id']}" for m in managers if m["id"].startswith(jobs["one"][:8])]
    place = places[0]
    logs = json.loads(get(f"{place}/logs"))["logs"]
    assert [log["name"] for log in logs] == ["stderr", "stdout"] and logs[0]["size"] > 0 and logs[0]["mtime"] > 0
    assert "CoarseGrainedExecutorBackend" in get(f"{place}/logs/stderr") and get(f"{place}/stdout") == ""
    assert get(f"{place}/log")[:100] == get(f"{place}/logs/stderr")[:100]
    for name in ("app.jar", "..%2f..%2f..%2fcluster.json", "%2fetc%2fpasswd", "../../0/stderr"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            get(f"{place}/logs/{name}")
    deadline = time.monotonic() + 60
    while True:  # an executor whose machine is busy gives no answer at first
        dumps = [json.loads(get(f"{one}/thread-dump"))["threadInfos"] for one in places]
        names = [{thread["threadName"] for thread in dump} for dump in dumps]
        # One that Spark gave no task of the job has no thread for tasks.
        if all("dispatcher-Executor" in found for found in names) and any(
            "Executor task launch worker" in name for found in names for name in found
        ):
            break
        assert time.monotonic() < deadline, names
        time.sleep(0.5)
    assert json.loads(get(f"/jobs/{jobs['one']}{place}/log-url"))["url"] == f"{url}{place}/log"


def test_an_executor_a_worker_and_the_master_are_lost(cluster: Cluster, jobs: dict[str, str]) -> None:
    kill(cluster.processes("CoarseGrainedExecutorBackend"))
    kill([p for p in cluster.processes("worker.Worker") if p.pid == member(cluster, "worker-2")])
    cluster("cluster", "status", code=1)
    assert cluster("cluster", "start").startswith("Started: worker-2.")
    kill([p for p in cluster.processes("master.Master") if p.pid == member(cluster, "master")])
    assert cluster("cluster", "start").startswith("Started: master.")
    assert cluster.json("cluster", "status")["spark"]["workers"] == 2
    before = {name: len(cluster.numbers(name)) for name in jobs}
    for name, count in before.items():
        cluster.wait_for_more(name, than=count + 200)
    assert {job["state"] for job in cluster.json("list")} == {"RUNNING"}


@pytest.mark.long
def test_what_people_do_with_jobs_and_an_upgrade_with_a_savepoint(cluster: Cluster, jobs: dict[str, str]) -> None:
    for name in jobs:
        cluster.wait_for_more(name)
    extra = cluster.json("savepoint", "two")["savepoint"]
    assert Path(extra).is_dir()
    cluster("savepoint", "-d", extra)
    assert not Path(extra).exists()
    assert cluster.json("checkpoint", "two")["checkpoint"] > 0
    assert cluster.json("rescale", "-p", "2", "two")["parallelism"] == 2
    savepoint = cluster.json("stop", jobs["one"][:8])["savepoint"]
    numbers = cluster.numbers("one")
    assert numbers == list(range(1, len(numbers) + 1))
    rows = [
        json.loads(line)
        for line in cluster("state", "scan", "--json", savepoint, "counts", "_reduce_state").splitlines()
    ]
    assert sum(row["value"][1] for row in rows) == len(numbers)
    assert cluster.json("cancel", "three")["state"] == "CANCELED"
    cluster("cancel", "three", code=4)
    cluster.submit("one", "-s", savepoint)
    cluster.wait_for_more("one", than=len(numbers))
    states = {(job["name"], job["state"]) for job in cluster.json("list", "-a")}
    assert states == {("one", "FINISHED"), ("one", "RUNNING"), ("two", "RUNNING"), ("three", "CANCELED")}


@pytest.mark.long
def test_per_job_mode(cluster: Cluster) -> None:
    """The driver is a child of the command, with a Spark application of its own on the cluster."""
    master = cluster.json("cluster", "status")["spark"]["master"]
    own = ("-D", f"spark.master={master}", "-pyfs", str(cluster.place / "modules"))
    cluster("run", *own, str(JOB), str(cluster.place / "out"), "per-job", "200")
    assert cluster.numbers("per-job") == list(range(1, 201))


SMALL = """
import sys
from headrace.datastream import StreamExecutionEnvironment

if sys.argv[1] == "program":
    raise ValueError("my own mistake")
env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1, 0]).map(lambda n: 1 // n if sys.argv[1] == "function" else n).print()
env.execute("small")
"""


@pytest.mark.parametrize(
    ("fails", "code", "stdout", "stderr"),
    [
        ("nothing", 0, "FINISHED", ""),
        ("function", 1, "FAILED", "ZeroDivisionError"),
        ("program", 1, "", "my own mistake"),
    ],
)
def test_attached_to_a_job_of_the_service(cluster: Cluster, fails: str, code: int, stdout: str, stderr: str) -> None:
    program = cluster.place / "small.py"
    program.write_text(SMALL)
    url = cluster.json("cluster", "status")["service"]["url"]
    own = ("-D", "headrace.executor=local", "-D", "restart-strategy.type=none")
    running = cluster.start("run", "-m", url, *own, str(program), fails)
    said = running.communicate(timeout=60)
    assert running.returncode == code, said
    assert stdout in said[0] and stderr in said[1] and "cli/app.py" not in said[1]


def test_stop_ends_all_of_it(cluster: Cluster) -> None:
    running = [job["jid"] for job in cluster.json("list") if job["state"] == "RUNNING"]
    done = cluster.json("cluster", "stop")
    assert done["ended"] == ["service", "worker-1", "worker-2", "master"] and done["forced"] == []
    assert running and sorted(done["cancelled"]) == sorted(running)
    deadline = time.monotonic() + 60
    while (left := cluster.processes()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not left, [process.cmdline() for process in left]
    for name in ("one", "two", "three"):
        numbers = cluster.numbers(name)
        assert numbers == list(range(1, len(numbers) + 1))
    assert cluster("cluster", "status", code=1).startswith("No cluster was started.")
    assert cluster("cluster", "stop") == "Nothing was running.\n"
