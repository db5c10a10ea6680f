"""Another parallelism while the job runs: nothing is lost, nothing comes twice, timers and windows go on."""

from __future__ import annotations

import threading
import time

import pytest
from durability_kit import KEYS, Remembering, expected_counts, expected_remembered, numbers

from headrace.common import Duration, Types, WatermarkStrategy
from headrace.common.errors import ConfigurationError, JobExecutionError
from headrace.common.time import Time
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream.window import TumblingEventTimeWindows


def slow(value):
    time.sleep(0.001)
    return value


def run_and_rescale(stream, *parallelisms, after=50):
    """All rows of a job that was rescaled in turn, each time after some more of them."""
    results = stream.execute_and_collect()
    rows = []
    thread = threading.Thread(target=lambda: [rows.append(row) for row in results], daemon=True)
    thread.start()
    for parallelism in parallelisms:
        seen = len(rows)
        deadline = time.monotonic() + 30
        while len(rows) < seen + after and time.monotonic() < deadline:
            time.sleep(0.005)
        results._job.rescale(parallelism)
    thread.join(60)
    assert not thread.is_alive()
    return rows, results._job


@pytest.mark.parametrize("interval", ["20 ms", None])
def test_up_and_down(make_env, interval):
    env = make_env(1, interval=interval)
    stream = numbers(env, 1500).map(lambda v: (slow(v) % KEYS, 1)).key_by(lambda t: t[0])
    rows, job = run_and_rescale(stream.reduce(lambda a, b: (a[0], a[1] + b[1])), 2, 5, 3)
    assert sorted(rows) == expected_counts(1500)
    assert {r.subtask for r in job._ledger.reports.values()} == {0, 1, 2}


def test_what_cannot_be_parallel_stays_as_it_is(make_env):
    env = make_env(2)
    stream = numbers(env, 1000).force_non_parallel().map(slow, Types.LONG()).set_parallelism(1)
    rows, job = run_and_rescale(stream.key_by(lambda v: v % KEYS).process(Remembering()), 3)
    assert sorted(rows) == expected_remembered(1000)
    by_vertex = {}
    for vertex, _ in job._ledger.reports:
        by_vertex[vertex] = by_vertex.get(vertex, 0) + 1
    assert sorted(by_vertex.values()) == [1, 3]


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


def test_windows_and_watermarks_go_on(make_env):
    def windows(env):
        stamped = numbers(env, 1000, parallelism=1).map(slow, Types.LONG()).set_parallelism(1)
        strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(5)).with_timestamp_assigner(
            Stamp()
        )
        timed = stamped.assign_timestamps_and_watermarks(strategy)
        pairs = timed.map(lambda v: (v % KEYS, v, 1))
        windowed = pairs.key_by(lambda t: t[0]).window(TumblingEventTimeWindows.of(Time.milliseconds(100)))
        return windowed.reduce(lambda a, b: (a[0], min(a[1], b[1]), a[2] + b[2]))

    still = sorted(windows(make_env(2)).execute_and_collect())
    moved, _ = run_and_rescale(windows(make_env(2)), 3, 1, after=7)
    assert sorted(moved) == still
    assert sum(count for *_, count in still) == 1000


def test_a_bad_parallelism_is_refused_and_the_job_goes_on(make_env):
    env = make_env(2)
    results = numbers(env, 600).map(slow, Types.LONG()).execute_and_collect()
    for wrong in (0, -1, 129, "two"):
        with pytest.raises(ConfigurationError):
            results._job.rescale(wrong)
    assert sorted(results) == list(range(1, 601))
    with pytest.raises(JobExecutionError, match="has ended"):
        results._job.rescale(2)


def test_an_edited_configuration_file_rescales_the_job(make_env, tmp_path):
    file = tmp_path / "headrace.yaml"
    file.write_text("parallelism.default: 2\n")
    env = make_env(2, headrace__rescale__file=str(file))
    stream = numbers(env, 1500).map(lambda v: (slow(v) % KEYS, 1)).key_by(lambda t: t[0])
    results = stream.reduce(lambda a, b: (a[0], a[1] + b[1])).execute_and_collect()
    rows = [next(results)]
    file.write_text("parallelism.default: 1000\n")  # more than there are key groups: the job goes on as it is
    time.sleep(0.6)
    file.write_text("parallelism.default: 3  # more\n")
    rows += results
    assert sorted(rows) == expected_counts(1500)
    assert {subtask for _, subtask in results._job._ledger.reports} == {0, 1, 2}
