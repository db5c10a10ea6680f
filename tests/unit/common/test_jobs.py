"""JobID, JobStatus, JobExecutionResult, CompletableFuture and JobClient."""

import pickle
import threading

import pytest

from headrace.common import CompletableFuture, JobClient, JobExecutionResult, JobID, JobStatus
from headrace.common.errors import InvalidProgramError

JOB = JobID("7d85215526c85cdf061381304462af6b")


class Handle:
    job_id = JOB
    last_epoch = {"epoch": 3, "records": 5}

    def __init__(self):
        self.calls = []
        self.ended = threading.Event()

    def status(self):
        return JobStatus.RUNNING

    def cancel(self):
        self.calls.append("cancel")

    def wait(self, timeout=None):
        self.ended.wait(timeout)
        return JobExecutionResult(JOB, 10)

    def accumulators(self):
        return {"a": 1}

    def trigger_savepoint(self, directory):
        return f"{directory}/savepoint-1"

    def stop_with_savepoint(self, advance_to_end_of_event_time, directory):
        raise OSError(f"cannot write {directory}, {advance_to_end_of_event_time}")


def test_client_gives_futures():
    handle = Handle()
    client = JobClient(handle)
    assert client.get_job_id() == JOB
    assert client.last_epoch == {"epoch": 3, "records": 5}
    assert client.get_job_status().result() is JobStatus.RUNNING
    assert client.cancel().result() is None
    assert handle.calls == ["cancel"]
    assert client.get_accumulators().result() == {"a": 1}
    assert client.trigger_savepoint("/s").result() == "/s/savepoint-1"


def test_waiting_for_the_result():
    handle = Handle()
    future = JobClient(handle).get_job_execution_result()
    assert not future.done()
    assert future.exception() is None
    assert str(future) == "CompletableFuture[not completed]"
    with pytest.raises(TimeoutError, match=r"0\.01 seconds"):
        future.get(timeout=0.01)
    handle.ended.set()
    assert future.result().get_net_runtime() == 10
    assert str(future) == "CompletableFuture[completed]"


def test_errors_come_with_the_future():
    future = JobClient(Handle()).stop_with_savepoint(True, "/s")
    with pytest.raises(OSError, match="cannot write /s, True"):
        future.result()
    assert isinstance(future.exception(), OSError)
    assert future.done()
    assert str(future) == "CompletableFuture[failed]"


def test_cancelled_futures():
    from concurrent.futures import CancelledError, Future

    future = CompletableFuture(Future())
    assert future.cancel()
    assert future.cancelled()
    assert isinstance(future.exception(), CancelledError)
    assert str(future) == "CompletableFuture[cancelled]"


def test_ids():
    assert pickle.loads(pickle.dumps(JOB)) == JOB
    assert hash(JobID(str(JOB))) == hash(JOB)
    assert len(str(JobID())) == 32
    assert str(JobID("A" * 32)) == "a" * 32
    for wrong in ("", "xyz", "g" * 32, "a" * 33):
        with pytest.raises(InvalidProgramError):
            JobID(wrong)


def test_states():
    ended = {JobStatus.FAILED, JobStatus.CANCELED, JobStatus.FINISHED}
    assert {status for status in JobStatus if status.is_globally_terminal_state()} == ended
    assert {status for status in JobStatus if status.is_terminal_state()} == {*ended, JobStatus.SUSPENDED}
    assert [status.value for status in JobStatus] == list(range(10))


def test_results():
    result = JobExecutionResult(JOB, 1500, {"lines": 3})
    assert pickle.loads(pickle.dumps(result)).get_all_accumulator_results() == {"lines": 3}
    assert result.get_job_id() == JOB
    assert result.get_accumulator_result("none") is None
    result.get_all_accumulator_results()["lines"] = 4
    assert result.get_accumulator_result("lines") == 3
    assert str(result).splitlines() == [
        f"Job {JOB} has finished.",
        "Job runtime: 1500 ms",
        "Accumulator results:",
        "- lines: 3",
    ]
