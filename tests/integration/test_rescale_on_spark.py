"""Another parallelism while the job runs on Spark: the first stage gets other partitions, too."""

from __future__ import annotations

import time

import pytest

from headrace.common import Types, WatermarkStrategy
from headrace.datastream import MapFunction
from headrace.datastream.connectors.number_seq import NumberSequenceSource

pytestmark = pytest.mark.spark
LAST = 1000


class Slow(MapFunction):
    def open(self, runtime_context):
        self.index = runtime_context.get_index_of_this_subtask()

    def map(self, value):
        time.sleep(0.0005)
        return value, self.index


def test_the_stages_follow_the_parallelism(make_env):
    env = make_env(1, headrace__epoch__first_records=100, headrace__epoch__bounded_target_ms=100)
    numbers = env.from_source(NumberSequenceSource(1, LAST), WatermarkStrategy.no_watermarks(), "numbers").uid(
        "numbers"
    )
    rows = (
        numbers.rebalance()
        .map(Slow(), Types.TUPLE([Types.LONG(), Types.INT()]))
        .uid("slow")
        .execute_and_collect("rescaled")
    )
    seen = [next(rows) for _ in range(50)]
    rows._job.rescale(2)
    seen += list(rows)
    assert sorted(value for value, _ in seen) == list(range(1, LAST + 1))
    assert {index for _, index in seen} == {0, 1}
    assert {index for _, index in seen[:50]} == {0}
    assert {index for _, index in seen[-50:]} == {0, 1}
