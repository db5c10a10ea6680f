"""The pipelines that durability tests run, and what their output must be."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from headrace.common import Types, WatermarkStrategy
from headrace.datastream import KeyedProcessFunction, MapFunction
from headrace.datastream.connectors.number_seq import NumberSequenceSource
from headrace.datastream.state import ListStateDescriptor, ValueStateDescriptor
from headrace.driver.job_master import JobMaster
from headrace.driver.requests import Request

KEYS = 7


def numbers(env, last, parallelism=None):
    """1 to last; with parallelism 1 they come in order."""
    source = NumberSequenceSource(1, last)
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    return stream if parallelism is None else stream.set_parallelism(parallelism)


def running_counts(env, last):
    """(key, count so far) for every number."""
    return (
        numbers(env, last)
        .map(lambda v: (v % KEYS, 1), Types.TUPLE([Types.LONG(), Types.LONG()]))
        .uid("pairs")
        .key_by(lambda t: t[0])
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
        .uid("counts")
    )


def expected_counts(last):
    sizes = Counter(v % KEYS for v in range(1, last + 1))
    return sorted((key, n) for key, size in sizes.items() for n in range(1, size + 1))


class FailsOnce(MapFunction):
    """Raises at a value, as long as its mark is there."""

    def __init__(self, mark: Path, value):
        self.mark, self.value = str(mark), value
        mark.write_text("armed")

    def map(self, value):
        if value == self.value and os.path.exists(self.mark):
            os.unlink(self.mark)
            raise ValueError(f"{value} is not to my liking")
        return value


class Remembering(KeyedProcessFunction):
    """Emits (key, how many so far, sum of all so far), from two states."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        self.seen.add(value)
        yield ctx.get_current_key(), self.count.value(), sum(self.seen.get())


def remembered(env, last, through=lambda v: v):
    stream = numbers(env, last, parallelism=1).map(through, Types.LONG()).uid("slow").set_parallelism(1)
    return stream.key_by(lambda v: v % KEYS).process(Remembering()).uid("remembering")


def expected_remembered(last):
    rows = []
    for key in range(KEYS):
        total = 0
        for count, value in enumerate((v for v in range(1, last + 1) if v % KEYS == key), 1):
            total += value
            rows.append((key, count, total))
    return sorted(rows)


def ask_at_once(job, *parallelisms):
    """Ask for several parallelisms: the job serves all of them before its next epoch."""
    requests = [Request(parallelism=parallelism) for parallelism in parallelisms]
    for request in requests:
        job._parts.requests.post(request)
    return requests


def ask_at_start(monkeypatch, *parallelisms):
    """Let each job that is submitted from now on be asked before its first epoch."""
    start, asked = JobMaster.start, []

    def ask_and_start(self):
        asked.extend(ask_at_once(self, *parallelisms))
        start(self)

    monkeypatch.setattr(JobMaster, "start", ask_and_start)
    return asked
