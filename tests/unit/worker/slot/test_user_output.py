"""UserOutput: whole lines by task and thread, bounded by epoch, and the interface of a standard output."""

from __future__ import annotations

import io
import os
import threading

import pytest

from headrace.worker.slot.user_output import MOST_BYTES, UserOutput

A, B = (0, 0), (1, 0)


@pytest.fixture
def log():
    return io.StringIO()


@pytest.fixture
def output(log):
    made = UserOutput(log)
    made.begin(A)
    return made


@pytest.fixture
def stdout(output):
    return output.as_text()


def test_lines_of_two_tasks_do_not_mix(output, stdout):
    print("a1", end="", file=stdout)
    assert output.take("a", ended=False) == b""
    output.begin(B)
    print("b1", file=stdout)
    assert output.take("b", ended=False) == b"b1\n"
    output.begin(A)
    print("a2", file=stdout)
    assert output.take("a", ended=False) == b"a1a2\n"


def test_lines_of_threads_stay_whole(output, stdout):
    def talk(word):
        for _ in range(200):
            print(word, word, word, file=stdout)

    threads = [threading.Thread(target=talk, args=(word,)) for word in ("one", "two", "three")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = output.take("a", ended=True).decode().splitlines()
    assert sorted(lines) == sorted(["one one one", "two two two", "three three three"] * 200)


def test_each_epoch_has_its_own_bound(output, stdout):
    for _ in range(2):
        for number in range(3000):
            print(number, "x" * 1000, file=stdout)
        *lines, note = output.take("Map", ended=False).decode().splitlines()
        assert [int(line.split()[0]) for line in lines] == list(range(len(lines)))
        assert MOST_BYTES - 2000 < sum(len(line) + 1 for line in lines) <= MOST_BYTES
        assert note == f"headrace: {3000 - len(lines)} lines that Map printed in this epoch were cut here"


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_line_that_is_too_long_is_cut(output, stdout, end):
    print("before", file=stdout)
    for _ in range(3):
        print("x" * MOST_BYTES, end=end, file=stdout)
    taken = output.take("Map", ended=True).decode()
    assert taken.startswith("before\nheadrace: ") and len(taken) < 1000
    print("after", file=stdout)
    assert output.take("Map", ended=False) == b"after\n"


def test_many_small_parts_of_a_line(output, stdout):
    for _ in range(100_000):
        print("x", end="", file=stdout)
    assert output.take("Map", ended=False) == b""
    print(file=stdout)
    assert len(output.take("Map", ended=False)) == 100_001


def test_nothing_is_nothing(output):
    assert output.take("Map", ended=True) == b""


def test_it_is_a_standard_output(output, stdout):
    stdout.write("ü \udcff\n")
    stdout.buffer.write("bytes ü\n".encode())
    stdout.flush()
    stdout.reconfigure(errors="replace")
    assert stdout.writable() and not stdout.isatty() and not stdout.readable()
    assert output.take("Map", ended=False).decode() == "ü \\udcff\nbytes ü\n"


def test_the_descriptor_is_the_processs_own(monkeypatch):
    read, write = os.pipe()
    with os.fdopen(write, "w") as own, os.fdopen(read):
        assert UserOutput(own).fileno() == own.fileno()


def test_what_is_printed_at_the_end_goes_to_the_log(output, stdout, log):
    print("last words", end="", file=stdout)
    output.pass_on()
    print("closed", file=stdout)
    assert log.getvalue() == "last words\nclosed\n"
    assert output.take("Map", ended=True) == b""


def test_a_forked_child_prints_to_the_log(output, stdout, log, monkeypatch):
    print("parent", file=stdout)
    pid = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: pid + 1)
    print("child", file=stdout)
    monkeypatch.undo()
    assert log.getvalue() == "child\n"
