"""Sources with a thread: Python source functions and sockets."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from headrace.common.errors import InvalidProgramError
from headrace.common.watermark_generator import Watermark
from headrace.connectors import socket_text
from headrace.connectors.base.split_reader import ReaderContext
from headrace.connectors.functions import function_source
from headrace.connectors.functions.function_source import FunctionSource
from headrace.connectors.socket_text import SocketText

DEADLINE = 20.0


def open_reader(source, subtask=0, parallelism=1):
    return source.open_reader(source.splits(parallelism)[subtask], None, ReaderContext(subtask, parallelism))


def drain(reader, limit=100):
    """All batches that are not empty."""
    batches, until = [], time.monotonic() + DEADLINE
    while not reader.finished:
        assert time.monotonic() < until
        batch = reader.read(limit, 0)
        if batch.values or batch.watermark is not None or batch.idle is not None:
            batches.append(batch)
        else:
            time.sleep(0.001)
    reader.close()
    return batches


class Function:
    """A source function made of a plain callable."""

    def __init__(self, run):
        self._run = run
        self.calls = []

    def open(self, context):
        self.calls.append(("open", context.get_index_of_this_subtask()))

    def run(self, ctx):
        self._run(ctx)

    def cancel(self):
        self.calls.append("cancel")

    def close(self):
        self.calls.append("close")


def test_everything_a_function_can_emit():
    def run(ctx):
        ctx.collect("a")
        ctx.collect_with_timestamp("b", 5)
        ctx.emit_watermark(Watermark(4))
        ctx.emit_watermark(6)
        ctx.mark_as_temporarily_idle()
        ctx.collect("c")

    function = Function(run)
    source = FunctionSource(function)
    reader = open_reader(source)
    reader._done.wait(DEADLINE)
    batches = drain(reader)
    assert [(b.values, b.timestamps, b.watermark, b.idle) for b in batches] == [
        (["a", "b"], [None, 5], 4, None),
        ([], None, 6, None),
        ([], None, None, True),
        (["c"], None, None, False),
    ]
    assert function.calls == [("open", 0), "close"]


def test_limit_holds():
    reader = open_reader(FunctionSource(Function(lambda ctx: [ctx.collect(i) for i in range(10)])))
    reader._done.wait(DEADLINE)
    assert [b.values for b in drain(reader, 4)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_errors_come_after_what_was_emitted():
    def run(ctx):
        ctx.collect(1)
        raise ZeroDivisionError("mine")

    reader = open_reader(FunctionSource(Function(run)))
    reader._done.wait(DEADLINE)
    assert reader.read(10, 0).values == [1]
    with pytest.raises(ZeroDivisionError, match="mine"):
        reader.read(10, 0)


def test_a_full_buffer_stops_the_function(monkeypatch):
    monkeypatch.setattr(function_source, "_CAPACITY", 10)
    emitted = []

    def run(ctx):
        for number in range(100):
            ctx.collect(number)
            emitted.append(number)

    reader = open_reader(FunctionSource(Function(run)))
    time.sleep(0.2)
    assert len(emitted) == 10
    assert [v for b in drain(reader, 7) for v in b.values] == list(range(100))


def test_close_ends_an_endless_function():
    def run(ctx):
        while True:
            ctx.collect(1)

    function = Function(run)
    reader = open_reader(FunctionSource(function))
    reader.read(10, 0)
    reader.close()
    assert reader._done.is_set() and not reader._thread.is_alive()
    assert function.calls == [("open", 0), "cancel", "close"]


def test_cancel_ends_a_function_that_waits():
    stop = threading.Event()

    class Waiting(Function):
        def cancel(self):
            stop.set()

    reader = open_reader(FunctionSource(Waiting(lambda ctx: stop.wait(DEADLINE))))
    reader.close()
    assert reader._done.is_set()


def test_parallel_functions_have_a_split_in_each_subtask():
    assert len(FunctionSource(None).splits(3)) == 1
    assert len(FunctionSource(None, parallel=True).splits(3)) == 3
    function = Function(lambda ctx: None)
    drain(open_reader(FunctionSource(function, parallel=True), 2, 3))
    assert function.calls[0] == ("open", 2)


# ---------------------------------------------------------------------- sockets


class Server:
    """Sends one text to each connection and closes it."""

    def __init__(self, *texts: bytes) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._texts = texts
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        with self._socket:
            for text in self._texts:
                connection, _ = self._socket.accept()
                with connection:
                    for start in range(0, len(text), 5):
                        connection.sendall(text[start : start + 5])


@pytest.fixture(autouse=True)
def fast_retries(monkeypatch):
    monkeypatch.setattr(socket_text, "_RETRY_SECONDS", 0.05)


def lines(source):
    return [line for batch in drain(open_reader(source), 2) for line in batch.values]


def test_lines_from_a_socket():
    assert lines(SocketText("127.0.0.1", Server(b"to be\r\nor not\n\nto b\xc3\xa9").port)) == [
        "to be",
        "or not",
        "",
        "to bé",
    ]


def test_another_delimiter():
    assert lines(SocketText("127.0.0.1", Server(b"a|b\n|c").port, "|")) == ["a", "b\n", "c"]


def test_connecting_again():
    assert lines(SocketText("127.0.0.1", Server(b"a\n", b"b\n").port, max_retry=1)) == ["a", "b"]


def test_nobody_listens():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(OSError):
        drain(open_reader(SocketText("127.0.0.1", port)))


def test_close_does_not_wait_for_the_server():
    with socket.create_server(("127.0.0.1", 0)) as server:
        reader = open_reader(SocketText("127.0.0.1", server.getsockname()[1], max_retry=-1))
        connection, _ = server.accept()
        started = time.monotonic()
        reader.close()
        assert time.monotonic() - started < 5
        connection.close()


@pytest.mark.parametrize("arguments", [("h", 0), ("h", 65536), ("h", 1, ""), ("h", 1, "\n", -2)])
def test_bad_sockets_are_refused(arguments):
    with pytest.raises(InvalidProgramError):
        SocketText(*arguments)
