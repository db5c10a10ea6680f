"""Every answer has all fields that a real Flink's answer has, with the same types.

`flink_answers.json` holds the fields and types of what a Flink 2.3 cluster answered for a running SQL job, by path.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from service_kit import ENDLESS, NUMBERS, wait_for

FLINK = json.loads(Path(__file__).with_name("flink_answers.json").read_text())
RESULT = "/jobs/:jobid/execution-result"
LATER = {path for path in FLINK if ":triggerid" in path or path == RESULT}


@pytest.fixture(scope="module")
def job(service):
    job = service.run(NUMBERS, ENDLESS, **{"my.password": "hunter2"})
    service.wait_for_status(job, "RUNNING")
    wait_for(lambda: service.completed_checkpoints(job) > 2)
    return job


def missing(expected, seen, where):
    """What an answer lacks, as a list of sentences."""
    if isinstance(expected, dict):
        if not isinstance(seen, dict):
            return [f"{where}: {seen!r} is no object"]
        if set(expected) == {"*"}:
            return [problem for value in seen.values() for problem in missing(expected["*"], value, f"{where}.*")]
        lacking = [f"{where}.{key} is missing" for key in expected if key not in seen]
        return lacking + [
            p for key in expected if key in seen for p in missing(expected[key], seen[key], f"{where}.{key}")
        ]
    if isinstance(expected, list):
        if not isinstance(seen, list):
            return [f"{where}: {seen!r} is no array"]
        return [p for value in seen if expected for p in missing(expected[0], value, f"{where}[]")]
    return (
        [] if expected == "null" or seen is None or kind(seen) == expected else [f"{where}: {seen!r} is no {expected}"]
    )


def kind(value):
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, (int, float)) or value == "NaN" else "string"


def test_the_comparison_finds_what_is_missing():
    assert missing({"a": "number"}, {}, "x") == ["x.a is missing"]
    assert missing([{"a": "number"}], [{"a": "1"}], "x") == ["x[].a: '1' is no number"]


@pytest.fixture(scope="module")
def names(service, job):
    """What the variables of the paths stand for."""
    return {
        ":jobid": job,
        ":vertexid": service.get(f"/jobs/{job}")["vertices"][-1]["id"],
        ":taskmanagerid": service.get("/taskmanagers")["taskmanagers"][0]["id"],
        ":checkpointid": "",
    }


@pytest.mark.parametrize("path", sorted(set(FLINK) - LATER))
def test_fields_and_types(service, job, names, path):
    names[":checkpointid"] = str(service.get(f"/jobs/{job}/checkpoints")["latest"]["completed"]["id"])
    here = path
    for name, value in names.items():
        here = here.replace(name, value)
    for prefix in ("", "/v1"):
        assert missing(FLINK[path], completed_only(service.get(prefix + here)), "$") == []


def completed_only(answer):
    """Flink's list of checkpoints was taken with one of each kind; those that are not there here are left out."""
    if isinstance(answer, dict) and "latest" in answer:
        answer["latest"] = {kind: entry for kind, entry in answer["latest"].items() if entry is not None}
        answer["history"] = [entry for entry in answer["history"] if entry["className"] == "completed"]
        assert answer["history"] and answer["latest"]["completed"]
        answer["latest"] = {
            **dict.fromkeys(("failed", "restored", "savepoint"), answer["latest"]["completed"]),
            **answer["latest"],
        }
    return answer


def test_lists_of_subtasks_and_tasks_are_not_empty(service, job):
    vertex = service.get(f"/jobs/{job}")["vertices"][-1]["id"]
    number = service.get(f"/jobs/{job}/checkpoints")["latest"]["completed"]["id"]
    details = service.get(f"/jobs/{job}/checkpoints/details/{number}")
    assert set(details["tasks"]) >= {vertex}
    assert len(service.get(f"/jobs/{job}/checkpoints/details/{number}/subtasks/{vertex}")["subtasks"]) == 2
    assert len(service.get(f"/jobs/{job}/vertices/{vertex}")["subtasks"]) == 2
    assert service.get(f"/jobs/{job}/vertices/{vertex}/subtasks/metrics?get=numRecordsIn&agg=sum")[0]["sum"] > 0
    assert service.get(f"/jobs/{job}/vertices/{vertex}/taskmanagers")["taskmanagers"][0]["taskmanager-id"].startswith(
        job[:8]
    )
    assert service.get("/overview")["slots-total"] >= 1


def test_only_savepoints_can_be_disposed_of(service, job, tmp_path):
    """A data set has a file `_metadata`, too; and the checkpoints of a job that runs are its own."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "_metadata").write_bytes(b"PAR1 no savepoint")
    (tmp_path / "data" / "part-0.parquet").write_bytes(b"precious")
    service.triggered("POST", f"/jobs/{job}/checkpoints", f"/jobs/{job}/checkpoints", {"checkpointType": "CONFIGURED"})
    (root,) = service.directory.glob(f"checkpoints/{job}")
    number = max(int(slot.name) for slot in (root / "slots").iterdir())
    for path in (
        tmp_path / "data",
        tmp_path / "data" / "_metadata",
        tmp_path,
        root,
        root / f"chk-{number}",
        root / "chk-3",
    ):
        answer = service.triggered("POST", "/savepoint-disposal", "/savepoint-disposal", {"savepoint-path": str(path)})
        assert answer["failure-cause"]["class"].endswith("ConfigurationError"), (path, answer)
    assert (tmp_path / "data" / "part-0.parquet").read_bytes() == b"precious"
    assert any((root / "slots").iterdir()) and any((root / "state").iterdir())
    assert service.get(f"/jobs/{job}")["state"] == "RUNNING"


def test_operations(service, job, tmp_path):
    base = f"/jobs/{job}"
    saved = service.triggered("POST", f"{base}/savepoints", f"{base}/savepoints", {"target-directory": str(tmp_path)})
    assert set(saved) == {"location"}
    assert (Path(saved["location"]) / "_metadata").is_file()
    made = service.triggered("POST", f"{base}/checkpoints", f"{base}/checkpoints", {"checkpointType": "CONFIGURED"})
    assert isinstance(made["checkpointId"], int)
    failed = service.triggered("POST", f"{base}/savepoints", f"{base}/savepoints", {"target-directory": "/proc/no"})
    assert missing(FLINK["/jobs/:jobid/savepoints/:triggerid"]["operation"], failed, "$") == []
    assert (
        service.triggered("POST", "/savepoint-disposal", "/savepoint-disposal", {"savepoint-path": saved["location"]})
        == {}
    )
    assert not Path(saved["location"]).exists()
    assert service.triggered("PATCH", f"{base}/rescaling?parallelism=3", f"{base}/rescaling") == {}
    wait_for(lambda: service.get(base)["vertices"][-1]["parallelism"] == 3)
    vertices = [vertex["id"] for vertex in service.get(base)["vertices"]]
    wish = {vertex: {"parallelism": {"lowerBound": 1, "upperBound": 2}} for vertex in vertices}
    assert service.call("PUT", f"{base}/resource-requirements", wish) == (200, {})
    wait_for(lambda: service.get(base)["vertices"][-1]["parallelism"] == 2)
    assert service.get(f"{base}/resource-requirements")[vertices[-1]]["parallelism"]["upperBound"] == 2
    trigger = "0123456789abcdef" * 2
    for _ in range(2):  # a client may repeat a request under its own id
        assert service.call("POST", f"{base}/checkpoints", {"triggerId": trigger}) == (202, {"request-id": trigger})


def test_executors_without_logs_that_can_be_reached(service, job, names):
    """Jobs of the local executor have none: the list is empty, a log is a 404, as in Flink."""
    place = f"/taskmanagers/{names[':taskmanagerid']}"
    assert service.get(f"{place}/logs") == {"logs": []}
    for path in (f"{place}/log", f"{place}/stdout", f"{place}/logs/stderr"):
        status, answer = service.call("GET", path)
        assert status == 404 and "does not exist in TaskManager log dir" in answer["errors"][0]
    threads = service.get(f"{place}/thread-dump")["threadInfos"]
    assert any(t["threadName"] == "MainThread" and "job_process" in t["stringifiedThreadInfo"] for t in threads)
    assert service.get(f"/jobs/{job}{place}/log-url")["url"].endswith(f"{place}/log")
    metric = "/taskmanagers/metrics?get=slots&agg=sum&taskmanagers="
    assert service.get(metric + names[":taskmanagerid"]) == [{"id": "slots", "sum": 1.0}]
    assert service.get(metric + "nobody") == []


def test_flame_graph(service, job):
    vertex = service.get(f"/jobs/{job}")["vertices"][0]["id"]
    path = f"/jobs/{job}/vertices/{vertex}/flamegraph"
    graph = wait_for(lambda: "data" in (found := service.get(f"{path}?type=ON_CPU")) and found)
    assert graph["endTimestamp"] > 0 and graph["data"]["name"] == "root" and graph["data"]["children"]
    assert service.call("GET", f"{path}?type=NO")[0] == 400


def test_secrets_are_masked(service, job):
    shown = service.get(f"/jobs/{job}/config")["execution-config"]["user-config"]
    assert shown["my.password"] == "******"
    assert "hunter2" not in json.dumps([service.get(f"/jobs/{job}/config"), service.get("/jobmanager/config")])


def test_live_events(service, job):
    import http.client
    from urllib.parse import urlsplit

    for path, name in ((f"/jobs/{job}/events", "job"), ("/events", "overview")):
        connection = http.client.HTTPConnection(urlsplit(service.url).netloc, timeout=10)
        connection.request("GET", path, headers={"Authorization": f"Bearer {service.token}"})
        answer = connection.getresponse()
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = [answer.readline().decode() for _ in range(5)]
        connection.close()
        assert lines[0] == f"event: {name}\n" and lines[2] == "\n" and lines[3] == lines[0], "there is a second one"
        data = json.loads(lines[1].removeprefix("data: "))
        assert (
            (data["vertices"][0]["vertex-metrics"]["numRecordsOut"] > 0)
            if name == "job"
            else data["jobs"][0]["jid"] == job
        )


def test_openapi_lists_every_route(service):
    from headrace.service.rest.routes import ENDPOINTS

    document = service.get("/openapi.json")
    listed = {(method.upper(), path) for path, verbs in document["paths"].items() for method in verbs}
    assert listed == {(endpoint.method, endpoint.path) for endpoint in ENDPOINTS}


def test_cancelled_and_kept(service, job):
    assert service.call("PATCH", f"/jobs/{job}?mode=cancel") == (202, {})
    service.wait_for_status(job, "CANCELED")
    assert service.get(f"/jobs/{job}")["vertices"], "its history is there"
    result = service.get(f"/jobs/{job}/execution-result")
    assert missing(FLINK[RESULT], result, "$") == []
    assert result["job-execution-result"]["application-status"] == "CANCELED"
    status, answer = service.call("POST", f"/jobs/{job}/savepoints", {})
    assert status == 409 and "CANCELED" in answer["errors"][0]
    wait_for(lambda: service.get("/overview")["jobs-cancelled"] == 1)
