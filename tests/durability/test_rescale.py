"""Another parallelism while the job runs: nothing is lost, nothing comes twice, timers and windows go on."""

from __future__ import annotations

import threading
import time

import pytest
from durability_kit import (
    KEYS,
    FailsOnce,
    Remembering,
    ask_at_once,
    ask_at_start,
    expected_counts,
    expected_remembered,
    numbers,
    remembered,
)

from headrace.checkpoint.errors import StoreError
from headrace.checkpoint.file_store import FileStore
from headrace.common import Duration, Types, WatermarkStrategy
from headrace.common.errors import ConfigurationError, JobExecutionError
from headrace.common.serialization import Encoder
from headrace.common.time import Time
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.connectors.generated.number_sequence import NumberSequence, range_splits
from headrace.datastream.connectors.file_system import BucketAssigner, FileSink, RollingPolicy
from headrace.datastream.window import TumblingEventTimeWindows
from headrace.local.executor import LocalExecutor


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
    assert {r.subtask for r in job._parts.job.ledger.reports.values()} == {0, 1, 2}


def test_what_cannot_be_parallel_stays_as_it_is(make_env):
    env = make_env(2)
    stream = numbers(env, 1000).force_non_parallel().map(slow, Types.LONG()).set_parallelism(1)
    rows, job = run_and_rescale(stream.key_by(lambda v: v % KEYS).process(Remembering()), 3)
    assert sorted(rows) == expected_remembered(1000)
    by_vertex = {}
    for vertex, _ in job._parts.job.ledger.reports:
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


def stopped_before(stream, enough):
    """The rows of a job that is stopped with a savepoint after so many, and the savepoint."""
    results = stream.execute_and_collect()
    rows = [next(results) for _ in range(enough)]
    path = results._job.stop_with_savepoint(False, None)
    return rows + list(results), path


@pytest.fixture
def rescaled_at_start(monkeypatch):
    """Gives all rows of a job that is asked for other parallelisms before its first epoch."""

    def run(stream, *parallelisms):
        asked = ask_at_start(monkeypatch, *parallelisms)
        rows = list(stream.execute_and_collect())
        assert [request.answer for request in asked] == list(parallelisms)
        return rows

    return run


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_restored_and_rescaled_before_the_first_epoch(make_env, rescaled_at_start, backend):
    settings = {"state__backend__type": backend}
    before, path = stopped_before(remembered(make_env(2, **settings), 900, through=slow), 100)
    env = make_env(2, execution__state_recovery__path=path, **settings)
    after = rescaled_at_start(remembered(env, 900, through=slow), 3, 1, 4)
    assert before and after
    assert sorted(before + after) == expected_remembered(900)


def test_failed_and_rescaled_at_start(make_env, tmp_path):
    """The requests come while the job restarts: they are served before its first epoch."""
    env = make_env(2, restart_strategy__fixed_delay__delay="500 ms")
    failing = FailsOnce(tmp_path / "mark", 400)
    stream = numbers(env, 900, parallelism=1).map(failing, Types.LONG()).uid("failing").set_parallelism(1)
    results = stream.key_by(lambda v: v % KEYS).process(Remembering()).uid("remembering").execute_and_collect()
    job = results._job
    while job.status().name != "RESTARTING" and not job.status().is_terminal_state():
        time.sleep(0.001)
    for parallelism in (3, 1, 5):
        job.rescale(parallelism)
    assert sorted(results) == expected_remembered(900)
    assert not (tmp_path / "mark").exists(), "it has failed"


def less(pair):
    time.sleep(0.0005)
    return pair[0], pair[1] + 1


def loop(env):
    pairs = numbers(env, 60).rebalance().map(lambda n: (n, 0)).uid("pairs").iterate()
    step = pairs.map(less).uid("less")
    pairs.close_with(step.filter(lambda pair: pair[1] < 20).uid("again"))
    return step.filter(lambda pair: pair[1] == 20).uid("done")


@pytest.mark.parametrize("steps", [(1,), (5, 2), (1, 3)])
def test_what_goes_round_in_an_iteration_is_kept(make_env, steps):
    env = make_env(3, headrace__epoch__max_records=5, headrace__epoch__first_records=5)
    results = loop(env).execute_and_collect()
    while results._job.last_epoch.get("totalInputRows", 0) < 30:
        time.sleep(0.001)
    asked = ask_at_once(results._job, *steps)
    assert sorted(results) == [(n, 20) for n in range(1, 61)]
    assert [request.answer for request in asked] == list(steps)


def test_an_iteration_goes_on_after_a_failure(make_env, tmp_path):
    env = make_env(3, interval="1 ms", headrace__epoch__max_records=5, headrace__epoch__first_records=5)
    pairs = numbers(env, 60).rebalance().map(lambda n: (n, 0)).iterate()
    step = pairs.map(less).map(FailsOnce(tmp_path / "mark", (50, 15)))
    pairs.close_with(step.filter(lambda pair: pair[1] < 20))
    done = step.filter(lambda pair: pair[1] == 20)
    assert sorted(done.execute_and_collect()) == [(n, 20) for n in range(1, 61)]
    assert not (tmp_path / "mark").exists(), "it has failed"


class FromNow(NumberSequence):
    """Finds where it begins when it is asked for its splits, as a source that starts with the latest records does."""

    def __init__(self, last):
        super().__init__(1, last)
        object.__setattr__(self, "asked", [])

    def splits(self, parallelism):
        self.asked.append(parallelism)
        return range_splits(1 if len(self.asked) == 1 else 500, self.end, parallelism)


def test_a_restart_without_a_checkpoint_begins_where_the_first_start_began(make_env, tmp_path):
    env = make_env(2, interval="1 h")
    stream = env.from_source(FromNow(900), WatermarkStrategy.no_watermarks(), "now").uid("now")
    results = stream.map(FailsOnce(tmp_path / "mark", 5), Types.LONG()).execute_and_collect()
    assert sorted(results) == list(range(1, 901))
    assert not (tmp_path / "mark").exists(), "it has failed"


def test_where_a_source_begins_is_found_once(make_env, rescaled_at_start):
    env = make_env(2)
    stream = env.from_source(FromNow(900), WatermarkStrategy.no_watermarks(), "now").uid("now")
    assert sorted(rescaled_at_start(stream.map(slow, Types.LONG()), 3, 1)) == list(range(1, 901))


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
@pytest.mark.parametrize("what", ["rescale", "savepoint", "rescale, whose executor does not start"])
def test_without_periodic_checkpoints_a_restart_goes_back_to_what_was_committed_last(
    make_env, tmp_path, monkeypatch, what, backend
):
    """The checkpoint of a request commits output. A job that started from its beginning would commit it again."""
    env = make_env(2, interval=None, state__backend__type=backend)
    failing = numbers(env, 900, parallelism=1).map(FailsOnce(tmp_path / "mark", 800), Types.LONG()).set_parallelism(1)
    counted = failing.map(slow, Types.LONG()).uid("slow").set_parallelism(1).key_by(lambda v: v % KEYS)
    lines = counted.process(Remembering()).uid("remembering").map(lambda row: " ".join(map(str, row)), Types.STRING())
    sink = FileSink.for_row_format(str(tmp_path / "out"), Encoder.simple_string_encoder())
    sink = sink.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    lines.sink_to(sink.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()).uid("sink")
    job = env.submit("committed last")
    for rows, parallelism in ((200, 3), (400, 1)):
        while job.last_epoch.get("totalInputRows", 0) < rows:
            time.sleep(0.001)
        if what == "savepoint":
            job.trigger_savepoint(None)
        elif what == "rescale":
            job.rescale(parallelism)
        else:
            start, broken = LocalExecutor.start, iter([True])

            def start_or_not(self, spec, start=start, broken=broken):
                if next(broken, False):
                    raise OSError("no executor can be had")
                start(self, spec)

            monkeypatch.setattr(LocalExecutor, "start", start_or_not)
            with pytest.raises(JobExecutionError, match="no executor can be had"):
                job.rescale(parallelism)
    job.wait()
    assert not (tmp_path / "mark").exists(), "it has failed"
    parts = [part for part in (tmp_path / "out").iterdir() if not part.name.startswith(".")]
    found = sorted(tuple(map(int, line.split())) for part in parts for line in part.read_text().splitlines())
    assert found == expected_remembered(900)


def test_a_drain_without_a_savepoint_is_taken_back(make_env, tmp_path, monkeypatch):
    """The sources were told to end. The job must not end with them: it goes on from its last checkpoint."""
    results = remembered(make_env(2, interval="1 h"), 900, through=slow).execute_and_collect()
    job = results._job
    while job.last_epoch.get("totalInputRows", 0) < 200:
        time.sleep(0.001)
    full = threading.Event()
    create = FileStore.create

    def refuse(self, name, record, *more):
        if name.startswith("slots/") and not full.is_set():
            full.set()
            raise StoreError("full")
        return create(self, name, record, *more)

    monkeypatch.setattr(FileStore, "create", refuse)
    with pytest.raises(JobExecutionError, match="stop with a savepoint failed: .* full"):
        job.stop_with_savepoint(True, str(tmp_path / "savepoints"))
    assert sorted(results) == expected_remembered(900)


def test_a_cancelled_job_answers_those_who_wait(make_env):
    results = numbers(make_env(1), 10_000).map(slow, Types.LONG()).execute_and_collect()
    next(results)
    answers = []

    def ask(parallelism):
        try:
            results._job.rescale(parallelism)
            answers.append("done")
        except JobExecutionError as error:
            answers.append(error.message)

    threads = [threading.Thread(target=ask, args=(2 + n % 3,), daemon=True) for n in range(20)]
    for thread in threads:
        thread.start()
    results._job.cancel()
    for thread in threads:
        thread.join(30)
    assert len(answers) == 20
    assert all(answer == "done" or "CANCELED" in answer for answer in answers)


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
    assert {subtask for _, subtask in results._job._parts.job.ledger.reports} == {0, 1, 2}
