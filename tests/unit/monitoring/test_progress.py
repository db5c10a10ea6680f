"""The live line appears on a terminal only, and never takes output away."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from headrace.common import Configuration, Types, WatermarkStrategy
from headrace.connectors.generated.datagen import DataGenerator
from headrace.datastream import StreamExecutionEnvironment
from headrace.driver import collected_output

PROGRAM = """
    from headrace.common import Configuration, Types, WatermarkStrategy
    from headrace.datastream import StreamExecutionEnvironment
    from headrace.connectors.generated.datagen import DataGenerator

    configuration = Configuration().set_string("headrace.executor", "local")
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
    source = DataGenerator(lambda index: index, count=400, records_per_second=100)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    numbers.print()
    env.execute("a job with a name")
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(PROGRAM))
    return path


def test_a_terminal_shows_the_line_and_a_file_gets_all_output(program):
    ours, theirs = pty.openpty()
    said = bytearray()

    def read() -> None:
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:
                return
            if not part:
                return
            said.extend(part)

    reader = threading.Thread(target=read)
    reader.start()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.run(
        [sys.executable, str(program)], stdout=subprocess.PIPE, stderr=theirs, env=environment, check=True, timeout=60
    )
    os.close(theirs)
    reader.join(10)
    os.close(ours)
    assert process.stdout.decode().splitlines() == [str(n) for n in range(400)]
    text = said.decode()
    assert "a job with a name" in text
    assert "records/s" in text
    assert "watermark" in text


def test_a_script_sees_nothing_of_it(program):
    process = subprocess.run([sys.executable, str(program)], capture_output=True, check=True, timeout=60)
    assert process.stderr == b""
    assert len(process.stdout.splitlines()) == 400


def test_a_slow_consumer_holds_the_job_back(monkeypatch):
    monkeypatch.setattr(collected_output, "_MOST_UNCOLLECTED", 1000)
    configuration = Configuration().set_string("headrace.executor", "local")
    configuration.set_string("headrace.epoch.max-records", "500")
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
    source = DataGenerator(lambda index: index)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    with numbers.execute_and_collect() as results:
        job = results._job
        waiter = threading.Event()
        while job.last_epoch.get("totalInputRows", 0) < 1000:
            waiter.wait(0.01)
        waiter.wait(0.3)
        assert job._parts.results.uncollected <= 1500
        taken = [next(results) for _ in range(3000)]
    assert taken == list(range(3000))
