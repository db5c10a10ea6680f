"""A program that serves REST for its own job."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from service_kit import Client, wait_for

from headrace.service.tokens import noted_token


@pytest.mark.parametrize("executor", ["local", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.long])])
def test_a_program_serves_its_own_job(start_script, tmp_path, executor, free_port):
    port = free_port()
    program = tmp_path / "job.py"
    program.write_text(f'''
from headrace.common import Configuration, WatermarkStrategy
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.number_seq import NumberSequenceSource

configuration = Configuration()
settings = {{"headrace.ui": "true", "rest.port": "{port}", "headrace.executor": "{executor}", "spark.master": "local[2,4]",
    "headrace.service.dir": "{tmp_path}/service"}}
for key, value in settings.items():
    configuration.set_string(key, value)
env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(2)
numbers = env.from_source(NumberSequenceSource(1, 10**12), WatermarkStrategy.no_watermarks(), "numbers")
numbers.key_by(lambda v: v % 3).filter(lambda v: False).print()
try:
    env.execute("own job")
except Exception as error:
    print("ended:", type(error).__name__)
''')
    running = start_script(program, tmp_path)
    client = Client(f"http://127.0.0.1:{port}")

    def token() -> str | None:
        return noted_token(tmp_path / "service", f"127.0.0.1:{port}")

    client.token = wait_for(token, 60)

    def job() -> str | None:
        try:
            [found] = client.get("/jobs/overview")["jobs"]
        except (OSError, ValueError):
            return None
        return str(found["jid"]) if found["state"] == "RUNNING" else None

    jid = wait_for(job, 60)
    for method, path in (("GET", f"/jobs/{jid}"), ("PATCH", f"/jobs/{jid}"), ("POST", "/savepoint-disposal")):
        assert Client(client.url).call(method, path)[0] == 401
    assert client.get(f"/jobs/{jid}")["name"] == "own job"
    wait_for(lambda: client.get(f"/jobs/{jid}")["vertices"][0]["metrics"]["write-records"] > 0)
    status, answer = client.call("GET", "/jars")
    assert status == 404 and "dispatcher" in answer["errors"][0]
    assert client.get("/config")["features"]["web-submit"] is False
    saved = client.triggered(
        "POST", f"/jobs/{jid}/savepoints", f"/jobs/{jid}/savepoints", {"target-directory": str(tmp_path)}
    )
    assert (Path(saved["location"]) / "_metadata").is_file()
    asked = [client.call("PATCH", f"/jobs/{jid}/rescaling?parallelism={n}")[1]["request-id"] for n in (3, 1, 2)]
    for trigger in asked:  # three at once, each with an answer
        done = wait_for(lambda trigger=trigger: _outcome(client, f"/jobs/{jid}/rescaling/{trigger}"), 60)
        assert done == {"status": {"id": "COMPLETED"}, "operation": {}}
    refused = client.call("PATCH", f"/jobs/{jid}/rescaling?parallelism=32000")[1]["request-id"]
    why = wait_for(lambda: _outcome(client, f"/jobs/{jid}/rescaling/{refused}"))["operation"]["failure-cause"]
    assert "more subtasks than key groups" in why["stack-trace"]
    assert {v["parallelism"] for v in client.get(f"/jobs/{jid}")["vertices"]} == {2}
    assert client.call("PATCH", f"/jobs/{jid}") == (202, {})
    finished = running.finish(30)
    assert re.search("ended: JobCancelledError", finished.stdout), finished.report()
    assert "requires a token" in finished.stderr and "/#/sign-in/" not in finished.stderr
    assert token() is None, "the note goes with the process"


def _outcome(client: Client, path: str) -> dict[str, Any] | None:
    """What became of an operation; None while it runs."""
    answer = client.get(path)
    return answer if answer["status"]["id"] == "COMPLETED" else None
