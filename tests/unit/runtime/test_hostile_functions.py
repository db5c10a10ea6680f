"""Functions that fork, that do not close, and lines without an end: a clear error in bounded time."""

import multiprocessing
import os
import socket
import subprocess
import sys
import threading
import time

import pytest

from headrace.common import Configuration, Types
from headrace.common.errors import CloseTimeoutError, HeadraceError, LineTooLongError
from headrace.datastream import MapFunction, StreamExecutionEnvironment
from headrace.runtime.local.task_thread import TaskThread
from headrace.runtime.task.task_deadline import watched_close
from headrace.sources import line_limit, socket_text, text_file


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


def by_others(value):
    done = subprocess.run([sys.executable, "-c", f"print({value} + 1)"], capture_output=True, check=True, text=True)
    child = multiprocessing.get_context("fork").Process(target=time.time)
    child.start()
    child.join()
    return int(done.stdout), child.exitcode


def test_subprocess_and_multiprocessing_work():
    assert list(local_env().from_collection([1], Types.LONG()).map(by_others).execute_and_collect()) == [(2, 0)]


def test_a_fork_outside_of_operators_is_left_alone():
    list(local_env().from_collection([1], Types.LONG()).map(str).execute_and_collect())
    child = os.fork()
    if child == 0:
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


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
    with pytest.raises(CloseTimeoutError, match="did not come back within 0.2 s") as raised:
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
