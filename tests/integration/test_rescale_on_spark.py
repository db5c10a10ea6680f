"""Another parallelism while the job runs on Spark: the first stage gets other partitions, too."""

from __future__ import annotations

import time

import pytest

from headrace.common import Types, WatermarkStrategy
from headrace.datastream import MapFunction
from headrace.datastream.connectors.number_seq import NumberSequenceSource
from headrace.driver.requests import Request

pytestmark = pytest.mark.spark
LAST = 1000
PAIR = Types.TUPLE([Types.LONG(), Types.INT()])


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
    rows = numbers.rebalance().map(Slow(), PAIR).uid("slow").execute_and_collect("rescaled")
    seen = [next(rows) for _ in range(50)]
    rows._job.rescale(2)
    seen += list(rows)
    assert sorted(value for value, _ in seen) == list(range(1, LAST + 1))
    assert {index for _, index in seen} == {0, 1}
    assert {index for _, index in seen[:50]} == {0}
    assert {index for _, index in seen[-LAST // 2 :]} == {0, 1}, (
        "an epoch gives the rows of one subtask after the other"
    )


def test_a_job_whose_input_has_ended_in_part_goes_on_and_ends(make_env):
    """The source of the part is chained with its map before, and is not any more: the map must still hear of the end."""
    env = make_env(1, headrace__epoch__first_records=100, headrace__epoch__bounded_target_ms=100)
    ended = env.from_collection([-3, -2, -1], Types.LONG()).uid("ended").map(lambda v: (v, 0), PAIR).uid("same")
    numbers = env.from_source(NumberSequenceSource(1, LAST), WatermarkStrategy.no_watermarks(), "numbers").uid(
        "numbers"
    )
    going = numbers.map(Slow(), PAIR).uid("slow")
    rows = ended.union(going).key_by(lambda row: row[0] % 5).map(lambda row: row[0], Types.LONG()).uid("values")
    results = rows.execute_and_collect("ended in part")
    seen = [next(results) for _ in range(50)]
    results._job.rescale(2)
    seen += list(results)
    assert sorted(seen) == [-3, -2, -1, *range(1, LAST + 1)]


def test_two_rescales_without_an_epoch_between_them(make_env):
    """The second one stands on the checkpoint of the first: no task of the cut between them has ever run."""
    env = make_env(1, headrace__epoch__first_records=100, headrace__epoch__bounded_target_ms=100)
    numbers = env.from_source(NumberSequenceSource(1, LAST), WatermarkStrategy.no_watermarks(), "numbers").uid(
        "numbers"
    )
    slow = numbers.map(Slow(), PAIR).uid("slow").map(lambda pair: (pair[0] % 5, 1)).uid("pairs")
    counted = slow.key_by(lambda pair: pair[0]).reduce(lambda a, b: (a[0], a[1] + b[1])).uid("counted")
    results = counted.execute_and_collect("rescaled twice")
    seen = [next(results) for _ in range(50)]
    asked = [Request(parallelism=3), Request(parallelism=2)]
    for request in asked:
        results._job._parts.requests.post(request)
    seen += list(results)
    assert [(request.answer, request.error) for request in asked] == [(3, None), (2, None)]
    assert sorted(seen) == sorted((key, n) for key in range(5) for n in range(1, LAST // 5 + 1))
