"""Nothing that is killed takes a job with it: not its own process, not the dispatcher, not the leader of several."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import psutil
import pytest
from service_kit import ENDLESS, NUMBERS, wait_for

TO_FILES = """
import sys
import time
from headrace.common import Encoder, WatermarkStrategy
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.file_system import FileSink, RollingPolicy
from headrace.datastream.connectors.number_seq import NumberSequenceSource

target, last = sys.argv[1], int(sys.argv[2])
env = StreamExecutionEnvironment.get_execution_environment()
numbers = env.from_source(NumberSequenceSource(1, last), WatermarkStrategy.no_watermarks(), "numbers")
sink = FileSink.for_row_format(target, Encoder.simple_string_encoder()).with_rolling_policy(
    RollingPolicy.on_checkpoint_rolling_policy()
).build()


def slowly(number):
    time.sleep(0.001)
    return str(number)


numbers.map(slowly).sink_to(sink)
env.execute("to files")
"""


def written(folder: Path) -> Counter[int]:
    lines = [
        line for file in folder.rglob("part-*") for line in file.read_text().split() if not file.name.startswith(".")
    ]
    return Counter(int(line) for line in lines)


def kill_and_wait(service, job) -> int:
    """Kills the process of a job; gives the one that took its place."""
    before = service.master(job)
    os.kill(before, signal.SIGKILL)
    after = wait_for(lambda: (now := service.master(job)) != before and psutil.pid_exists(now) and now)
    service.wait_for_status(job, "RUNNING")
    return after


def test_a_killed_job_master_goes_on_from_its_checkpoint(service, tmp_path):
    last = 3_000
    job = service.run(TO_FILES, [str(tmp_path / "out"), str(last)], **{"headrace.epoch.max-records": "100"})
    wait_for(lambda: service.completed_checkpoints(job) >= 2)
    kill_and_wait(service, job)
    wait_for(lambda: service.get(f"/jobs/{job}/checkpoints")["counts"]["restored"] == 1)
    assert service.get(f"/jobs/{job}/exceptions")["exceptionHistory"]["entries"][0]["exceptionName"] == "JobMasterLost"
    service.wait_for_status(job, "FINISHED")
    assert written(tmp_path / "out") == Counter(range(1, last + 1)), "each number once"
    wait_for(lambda: not any((service.directory / "checkpoints").iterdir()))  # nothing is kept of it


def test_stopped_with_a_savepoint_and_started_from_it(service, tmp_path):
    last = 2_000
    settings = {"headrace.epoch.max-records": "100"}
    job = service.run(TO_FILES, [str(tmp_path / "out"), str(last)], **settings)
    wait_for(lambda: service.completed_checkpoints(job) >= 1)
    body = {"targetDirectory": str(tmp_path / "savepoints"), "drain": False}
    stopped = service.triggered("POST", f"/jobs/{job}/stop", f"/jobs/{job}/savepoints", body)
    service.wait_for_status(job, "FINISHED")
    program = service.program(TO_FILES)
    body = {
        "programArgsList": [str(tmp_path / "out"), str(last)],
        "savepointPath": stopped["location"],
        "parallelism": 3,
    }
    status, answer = service.call("POST", f"/jars/{program}/run", body)
    assert status == 200, answer
    service.wait_for_status(answer["jobid"], "FINISHED")
    assert service.get(f"/jobs/{answer['jobid']}")["vertices"][0]["parallelism"] == 3
    assert written(tmp_path / "out") == Counter(range(1, last + 1))


def test_a_killed_dispatcher_finds_its_jobs_again(start_service):
    service = start_service().leading()
    job = service.run(NUMBERS, ENDLESS)
    service.wait_for_status(job, "RUNNING")
    ended = service.run(NUMBERS, ["10"])
    service.wait_for_status(ended, "FINISHED")
    master = service.master(job)
    service.kill()
    again = start_service(service.directory).leading()
    again.wait_for_status(job, "RUNNING")
    assert again.master(job) == master, "the process went on"
    assert again.status(ended) == "FINISHED" and again.get(f"/jobs/{ended}")["vertices"]
    assert kill_and_wait(again, job) != master, "the new one watches it"
    assert again.end() == 0
    assert psutil.pid_exists(again.master(job)), "jobs go on when the service is asked to end"
    last = start_service(service.directory).leading()
    assert last.call("DELETE", "/cluster") == (200, {})
    assert last.process.wait(20) == 0
    wait_for(lambda: not psutil.pid_exists(last.master(job)))


def test_standby_sends_to_the_leader_and_takes_over(start_service):
    leader = start_service().leading()
    job = leader.run(NUMBERS, ENDLESS)
    leader.wait_for_status(job, "RUNNING")
    standby = start_service(leader.directory)
    status, headers, _ = standby.raw("GET", f"/jobs/{job}/metrics?get=uptime")
    assert (status, headers["location"]) == (307, f"{leader.url}/jobs/{job}/metrics?get=uptime")
    assert standby.raw("PATCH", f"/jobs/{job}")[0] == 307, "nothing is done here"
    master = leader.master(job)
    leader.kill()
    standby.leading()
    assert standby.status(job) == "RUNNING" and standby.master(job) == master
    assert standby.call("PATCH", f"/jobs/{job}") == (202, {})
    standby.wait_for_status(job, "CANCELED")


def test_a_second_master_for_a_job_ends_at_once(service):
    job = service.run(NUMBERS, ENDLESS)
    service.wait_for_status(job, "RUNNING")
    master = service.master(job)
    folder = service.directory / "jobs" / job
    command = [sys.executable, "-m", "headrace.service.job_process", str(folder)]
    assert subprocess.run(command, timeout=20, check=False).returncode == 0
    assert service.master(job) == master and psutil.pid_exists(master)
    service.call("PATCH", f"/jobs/{job}")


def test_a_job_whose_process_dies_again_and_again_has_failed(start_service):
    service = start_service(headrace__service__restart_attempts="1").leading()
    crashing = "import os, sys\n" + NUMBERS.replace("env.execute", "sys.stdout.flush(); os._exit(3); env.execute")
    status, answer = service.call("POST", f"/jars/{service.program(crashing)}/run", {"programArgsList": ["5"]})
    assert status == 400 and "lost too often" in answer["errors"][0]


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("raise ValueError('no such table')", "ValueError: no such table"),
        ("x = 1", "without starting a job"),
        ("import no_such_module_here", "No module named 'no_such_module_here'"),
        (NUMBERS + NUMBERS.replace('"numbers")', '"second")'), None),
    ],
)
def test_errors_of_the_program_are_those_of_the_request(service, program, said):
    status, answer = service.call("POST", f"/jars/{service.program(program)}/run", {"programArgsList": ["5"]})
    if said is None:
        assert status == 200
        service.wait_for_status(answer["jobid"], "FINISHED")
        log = service.get(f"/jobmanager/logs/job-{answer['jobid']}.log")
        wait_for(lambda: "can start only one job" in service.get(f"/jobmanager/logs/job-{answer['jobid']}.log"))
        assert isinstance(log, str)
    else:
        assert status == 400 and said in answer["errors"][0]


def test_a_failing_job_says_why(service):
    failing = NUMBERS.replace("(v % 3, 1)", "(1 // 0, 1)")
    job = service.run(failing, ["5"], **{"restart-strategy.type": "none"})
    service.wait_for_status(job, "FAILED")
    entry = service.get(f"/jobs/{job}/exceptions")["exceptionHistory"]["entries"][0]
    assert "ZeroDivisionError" in entry["stacktrace"]
    result = service.get(f"/jobs/{job}/execution-result")["job-execution-result"]
    assert "ZeroDivisionError" in result["failure-cause"]["stack-trace"]


@pytest.mark.long  # tests/cluster does the same on a cluster
@pytest.mark.spark
def test_on_spark(start_service):
    service = start_service(headrace__executor="spark", spark__master="local[2,4]").leading()
    job = service.run(NUMBERS, ENDLESS)
    wait_for(lambda: service.completed_checkpoints(job) >= 1, 60)
    [manager] = service.get("/taskmanagers")["taskmanagers"]
    assert manager["slotsNumber"] == 2 and manager["assignedTasks"] == 4
    kill_and_wait(service, job)
    wait_for(lambda: service.completed_checkpoints(job) >= 1, 60)
    assert service.get(f"/jobs/{job}/checkpoints")["counts"]["restored"] == 1
    service.call("PATCH", f"/jobs/{job}")
    service.wait_for_status(job, "CANCELED")
