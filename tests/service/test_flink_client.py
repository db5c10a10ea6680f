"""A client that others made for Flink's REST API (PyPI: flink-rest-client), on this service as it is."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from service_kit import NUMBERS, wait_for

sys.path.append(str(Path(sys.prefix) / "flink-client"))  # scripts/setup puts it there
from flink_rest_client import FlinkRestClient
from flink_rest_client.common import RestException

sys.path.pop()  # a package of it is named `tests`

WITH_OPTION = NUMBERS.replace("sys.argv[1]", "sys.argv[sys.argv.index('--last') + 1]")


@pytest.fixture(scope="module")
def service(start_service):
    """Flink's own clients can send no token: for them there is a service without one, on loopback only."""
    return start_service(headrace__service__authentication="none").leading()


@pytest.fixture(scope="module")
def client(service):
    address = urlsplit(service.url)
    return FlinkRestClient.get(host=address.hostname, port=address.port)


@pytest.fixture(scope="module")
def job(service, client, tmp_path_factory):
    """A job that runs, uploaded and started by the client."""
    program = tmp_path_factory.mktemp("client") / "job.py"
    program.write_text(WITH_OPTION)
    started = client.jars.upload_and_run(str(program), arguments={"last": 1_000_000_000_000}, parallelism=2)
    service.wait_for_status(started, "RUNNING")
    wait_for(lambda: client.jobs.get_checkpoints(started)["counts"]["completed"] > 1)
    return started


def test_the_cluster(client):
    assert client.overview()["jobs-running"] >= 0 and client.config()["flink-version"]
    assert client.datasets() == []
    assert client.jobmanager.config()["headrace.executor"] == "local"
    assert {"name", "size"} <= set(client.jobmanager.logs()[0])
    assert "leading as" in client.jobmanager.get_log("service.log")
    assert float(client.jobmanager.metrics()["numRunningJobs"]) >= 0


def test_programs(client, tmp_path):
    (tmp_path / "numbers.py").write_text(NUMBERS)
    name = Path(client.jars.upload(str(tmp_path / "numbers.py"))["filename"]).name
    assert name in [file["id"] for file in client.jars.all()["files"]]
    with pytest.raises(RestException, match="IndexError"):  # the client gives no arguments for plans
        client.jars.get_plan(name)
    assert client.jars.delete(name)
    with pytest.raises(RestException, match="does not exist"):
        client.jars.get_plan(name)


def test_a_job_and_its_parts(client, job):
    jobs = client.jobs
    assert job in jobs.job_ids() and job in [entry["jid"] for entry in jobs.overview()]
    assert jobs.get(job)["state"] == "RUNNING" and jobs.get_plan(job)["nodes"]
    assert jobs.get_config(job)["name"] == "numbers"
    assert jobs.get_exceptions(job)["root-exception"] is None
    assert jobs.get_execution_result(job) == {"status": {"id": "IN_PROGRESS"}}
    assert float(jobs.get_metrics(job)["numberOfCompletedCheckpoints"]) > 0
    assert jobs.metrics(metric_names=["uptime"], job_ids=[job])["uptime"]["max"] > 0
    assert jobs.get_accumulators(job)["user-task-accumulators"] == []
    assert jobs.get_checkpointing_configuration(job)["interval"] == 200
    number = jobs.get_checkpoints(job)["latest"]["completed"]["id"]
    assert number in jobs.get_checkpoint_ids(job)
    assert jobs.get_checkpoint_details(job, number, show_subtasks=True)["subtasks"]
    vertex = jobs.get_vertex(job, jobs.get_vertex_ids(job)[-1])
    assert vertex.details()["parallelism"] == 2 and vertex.backpressure()["status"] == "ok"
    assert vertex.subtasktimes()["subtasks"] and vertex.taskmanagers()["taskmanagers"] and vertex.watermarks()
    assert vertex.metrics(["0.numRecordsIn"])["0.numRecordsIn"]
    subtasks = vertex.subtasks
    assert subtasks.subtask_ids() == [0, 1] and subtasks.accumulators()["subtasks"]
    assert subtasks.metrics(["numRecordsIn"])["numRecordsIn"]["sum"] > 0
    assert subtasks.get(1)["subtask"] == 1 and subtasks.get_attempt(1)["attempt"] == 0
    assert subtasks.get_attempt_accumulators(1)["user-accumulators"] == []


def test_task_managers(client, job):
    managers = client.taskmanagers
    [name] = [found for found in managers.taskmanager_ids() if found.startswith(job[:8])]
    assert managers.get(name)["id"] == name and managers.get_logs(name) == []
    assert managers.metrics(["slots"], ["sum"], [name])["slots"]["sum"] == 1
    assert managers.get_metrics(name, ["slots"]) == {"slots": "1"}
    assert "MainThread" in managers.get_thread_dump(name)


def test_what_is_done_with_a_job(service, client, job, tmp_path):
    def done(trigger):
        return wait_for(
            lambda: ((found := trigger.status)["status"]["id"] == "COMPLETED" and found["operation"]) or None
        )

    saved = done(client.jobs.create_savepoint(job, str(tmp_path / "a")))
    assert (Path(saved["location"]) / "_metadata").is_file()
    with pytest.raises(KeyError, match="triggerid"):  # it expects a field that Flink's answer does not have
        client.jobs.rescale(job, 3)
    wait_for(lambda: client.jobs.get(job)["vertices"][-1]["parallelism"] == 3)
    stopped = done(client.jobs.stop(job, str(tmp_path / "b")))
    assert (Path(stopped["location"]) / "_metadata").is_file()
    service.wait_for_status(job, "FINISHED")
    with pytest.raises(RestException, match="409"):
        client.jobs.terminate(job)
