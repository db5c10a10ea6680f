"""Windows with reduce or aggregate on the disk backend: open windows that are many times larger than the memory."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib

PROGRAM = """
import json, sys, threading, zlib
from headrace.common import Configuration, Time, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import AggregateFunction, StreamExecutionEnvironment
from headrace.datastream.connectors.number_seq import NumberSequenceSource
from headrace.datastream.window import TumblingEventTimeWindows

settings, keys = json.loads(sys.argv[1]), int(sys.argv[2])

def anonymous_mb():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) / 1024

most, over = 0.0, threading.Event()

def watch():
    global most
    while not over.wait(0.01):
        most = max(most, anonymous_mb())

class ByRound(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value // keys  # one window for all

class Texts(AggregateFunction):
    def create_accumulator(self):
        return ""

    def add(self, value, accumulator):
        return accumulator + str(zlib.crc32(b"%d" % value)).rjust(10) * 500

    def merge(self, a, b):
        return a + b

    def get_result(self, accumulator):
        return len(accumulator), zlib.crc32(accumulator.encode())

configuration = Configuration()
for name, value in settings.items():
    configuration.set_string(name, value)
env = StreamExecutionEnvironment.get_execution_environment(configuration)
env.set_parallelism(1)
before = anonymous_mb()
watcher = threading.Thread(target=watch)
watcher.start()
numbers = env.from_source(NumberSequenceSource(0, 4 * keys - 1), WatermarkStrategy.no_watermarks(), "numbers").uid("n")
stamped = numbers.assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(ByRound())
)
windows = stamped.key_by(lambda v: v % keys).window(TumblingEventTimeWindows.of(Time.days(1))).aggregate(Texts())
results, checksum = 0, 0
for length, text in windows.uid("w").execute_and_collect():
    results, checksum = results + 1, zlib.crc32(b"%d %d" % (length, text), checksum)
over.set()
watcher.join()
print(json.dumps({"results": results, "checksum": checksum, "mb": most - before}))
"""


def run(keys, **settings):
    given = {"headrace.executor": "local", "headrace.epoch.max-records": "200", "headrace.progress": "never"}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps({**given, **settings}), str(keys)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


def checksum_of(keys):
    checksum = 0
    for key in range(keys):
        text = "".join(str(zlib.crc32(b"%d" % n)).rjust(10) * 500 for n in range(key, 4 * keys, keys))
        checksum = zlib.crc32(b"%d %d" % (len(text), zlib.crc32(text.encode())), checksum)
    return checksum


def test_open_windows_need_no_more_than_the_backends_memory():
    disk = {"state.backend.type": "rocksdb", "state.backend.rocksdb.memory.fixed-per-slot": "8 mb"}
    found = run(5_000, **disk)
    assert (found["results"], found["checksum"]) == (5_000, checksum_of(5_000)), "as many, and in this order"
    assert found["mb"] < 80, "MB of memory for 95 MB of open windows, the database's own included"
