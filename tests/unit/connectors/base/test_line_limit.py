"""Lines without an end, of files and sockets: a clear error in bounded memory."""

import socket
import subprocess
import sys
import threading
import time

import pytest

from headrace.common import Configuration
from headrace.common.errors import LineTooLongError
from headrace.connectors import socket_text
from headrace.connectors.base import line_limit
from headrace.connectors.files import text_file
from headrace.datastream import StreamExecutionEnvironment


def local_env():
    configuration = Configuration()
    configuration.set_string("headrace.executor", "local")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    return env


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
