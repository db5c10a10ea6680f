"""Functions that fork, that do not close, and lines without an end: a clear error in bounded time."""

import logging
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from headrace.common import Configuration, Types
from headrace.common.errors import CloseTimeoutError, HeadraceError, LineTooLongError
from headrace.connectors import socket_text
from headrace.connectors.base import line_limit
from headrace.connectors.files import text_file
from headrace.datastream import MapFunction, StreamExecutionEnvironment
from headrace.local import executor as local_executor
from headrace.local.task_thread import TaskThread
from headrace.worker.slot.deadline import watched_close


def local_env():
    configuration = Configuration()
    configuration.set_string("headrace.executor", "local")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    return env


def fork(value):
    child = os.fork()
    if child == 0:
        os._exit(0)  # if it is not refused, the test must not run twice
    os.waitpid(child, 0)
    return value


def test_a_fork_in_a_function_is_refused():
    with pytest.raises(HeadraceError, match=r"os.fork\(\) was called in a function of the program") as raised:
        list(local_env().from_collection([1, 2], Types.LONG()).map(fork).execute_and_collect())
    assert "subprocess" in str(raised.value)


FORKING = """
    import multiprocessing, os, pickle, subprocess, sys, time
    from os import fork
    from headrace.common import Configuration, Types
    from headrace.datastream import StreamExecutionEnvironment

    def by_others(value):
        done = subprocess.run([sys.executable, "-c", f"print({value} + 1)"], capture_output=True, check=True, text=True)
        child = multiprocessing.get_context("fork").Process(target=time.time)
        child.start()
        child.join()
        return int(done.stdout), child.exitcode

    configuration = Configuration().set_string("headrace.executor", "local")
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
    print(*env.from_collection([1], Types.LONG()).map(by_others).execute_and_collect())
    child = os.fork()
    if child == 0:
        os._exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    print(pickle.loads(pickle.dumps(fork)) is fork)
"""


def test_other_ways_to_have_a_child_are_left_alone(run_script, tmp_path):
    """By subprocess and multiprocessing in functions, and by fork outside of them; in a process without other threads."""
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(FORKING))
    finished = run_script(script, tmp_path, 60)
    assert finished.stdout.split("\n")[:3] == ["(2, 0)", "7", "True"], finished.report()


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
from headrace.worker.slot.close_limit import CloseLimit

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


LONG_LINE = """
import resource, sys
from headrace.common import Configuration
from headrace.common.errors import LineTooLongError
from headrace.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment(Configuration().set_string("headrace.executor", "local"))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    list(env.set_parallelism(1).read_text_file(sys.argv[1]).execute_and_collect())
except LineTooLongError as error:
    print(error)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.long
def test_a_gigabyte_without_a_line_end_takes_bounded_memory(tmp_path):
    file = tmp_path / "long.txt"
    with open(file, "wb") as written:
        written.truncate(1 << 30)  # sparse: it takes no space
    try:
        command = [sys.executable, "-c", LONG_LINE, str(file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    finally:
        file.unlink()
    *error, grown = done.stdout.splitlines()
    assert "A line has more than 256 megabytes [LINE_TOO_LONG]" in error[0], done.stderr
    assert int(grown) << 10 < line_limit.MAX_LINE_BYTES * 1.5


@pytest.fixture
def short_lines(monkeypatch):
    for module in (line_limit, socket_text, text_file):
        monkeypatch.setattr(module, "MAX_LINE_BYTES", 3 << 20)


@pytest.mark.parametrize("ended", [True, False])
def test_a_line_of_a_file_that_is_too_long_is_refused(short_lines, tmp_path, ended):
    file = tmp_path / "long.txt"
    file.write_bytes(b"first\n" + b"x" * (8 << 20) + b"\nlast\n" * ended)
    with pytest.raises(LineTooLongError, match=r"long.txt from byte 6"):
        list(local_env().read_text_file(str(file)).execute_and_collect())


def test_long_lines_within_the_limit_are_whole(short_lines, tmp_path):
    file = tmp_path / "long.txt"
    lines = ["first", "x" * (2 << 20), "y" * (2 << 20), "", "last"]
    file.write_text("\n".join(lines))
    assert list(local_env().read_text_file(str(file)).execute_and_collect()) == lines


def serve(data, size):
    server = socket.create_server(("127.0.0.1", 0))

    def send():
        connection, _ = server.accept()
        with connection, server:
            try:
                for start in range(0, len(data), size):
                    connection.sendall(data[start : start + size])
            except OSError:
                pass  # the reader has gone

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    return server.getsockname()[1], thread


def read_socket(port, delimiter):
    reader = socket_text.SocketText("127.0.0.1", port, delimiter).open_reader(None, None, None)
    found = []
    deadline = time.monotonic() + 60
    try:
        while not reader.finished and time.monotonic() < deadline:
            found += reader.read(1000, 0).values
            time.sleep(0.001)
    finally:
        reader.close()
    return found


def test_a_line_of_a_socket_that_is_too_long_is_refused(short_lines):
    port, thread = serve(b"first\n" + b"x" * (8 << 20), 1 << 16)
    with pytest.raises(LineTooLongError, match=f"the socket 127.0.0.1:{port}"):
        read_socket(port, "\n")
    thread.join(60)


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_delimiters_that_arrive_in_pieces_are_found(size):
    port, thread = serve(b"a--b----c-d--", size)
    assert read_socket(port, "--") == ["a", "b", "", "c-d"]
    thread.join(60)
