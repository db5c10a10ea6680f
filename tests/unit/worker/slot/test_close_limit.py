"""Functions whose `close()` hangs: a clear error in bounded time."""

import logging
import signal
import subprocess
import sys
import threading
import time

import pytest

from headrace.common import Configuration, Types
from headrace.common.errors import CloseTimeoutError
from headrace.datastream import MapFunction, StreamExecutionEnvironment
from headrace.local import executor as local_executor
from headrace.local.executor import TaskThread
from headrace.worker.slot.deadline import watched_close


def local_env():
    configuration = Configuration()
    configuration.set_string("headrace.executor", "local")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    return env


class Hanging(MapFunction):
    def __init__(self, go_on):
        self.go_on = go_on

    def map(self, value):
        return value

    def close(self):
        self.go_on.wait(60)


def test_a_close_that_hangs_is_given_up_and_said_where():
    go_on = threading.Event()
    thread = TaskThread()
    started = time.monotonic()
    with pytest.raises(CloseTimeoutError, match="did not return within 0.2 s") as raised:
        thread.end(Hanging(go_on).close, 0.2)
    go_on.set()
    assert time.monotonic() - started < 30
    assert "self.go_on.wait(60)" in str(raised.value)


def test_a_slow_close_is_reported_while_it_waits():
    reported = threading.Event()
    seen = []

    def report(error):
        seen.append(str(error))
        reported.set()

    with watched_close(0.05, report):
        assert reported.wait(30)
    assert "CLOSE_TIMEOUT" in seen[0]
    assert "reported.wait(30)" in seen[0]


CLOSES = """
import os, sys, time
from headrace.common.errors import CloseTimeoutError
from headrace.worker.slot.ending import CloseLimit

os.setpgrp()  # as a slot: it is ended with all that it has started

def give_up(error):
    print("given up", error.code, flush=True)

def stubborn():
    while True:
        try:
            time.sleep(600)
        except BaseException:
            pass

def raises():
    raise ValueError("its own")

limit = CloseLimit(0.2, give_up)
for call in (lambda: None, lambda: time.sleep(600), raises, lambda: None, stubborn):
    try:
        limit.run(call)
        print("closed", flush=True)
    except CloseTimeoutError as error:
        print("left", "time.sleep(600)" in str(error) or "in <lambda>" in str(error), flush=True)
    except ValueError as error:
        print(error, flush=True)
"""


def test_a_close_is_left_by_a_signal_and_given_up_with_its_process():
    """Each way in turn; one that was left does not disturb those that come after it."""
    done = subprocess.run([sys.executable, "-c", CLOSES], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.splitlines() == ["closed", "left True", "its own", "closed", "given up CLOSE_TIMEOUT"]
    assert done.returncode == -signal.SIGKILL, done.stderr


def test_a_slow_close_at_the_end_of_a_local_job_is_logged(monkeypatch, caplog):
    """Nothing can interrupt it here, and the job ends as usual when it is done."""
    monkeypatch.setattr(local_executor, "CLOSE_SECONDS", 0.05)
    with caplog.at_level(logging.ERROR, "headrace"):
        rows = list(local_env().from_collection([1], Types.LONG()).map(Slow()).name("slow").execute_and_collect())
    assert rows == [1]
    assert "CLOSE_TIMEOUT" in caplog.text
    assert "operator: slow" in caplog.text


class Slow(MapFunction):
    def map(self, value):
        return value

    def close(self):
        time.sleep(1)
