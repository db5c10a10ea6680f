"""Savepoints: taken while a job runs, restored with another parallelism or a changed program."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import threading
import time
from pathlib import Path

import pytest
from durability_kit import KEYS, Remembering, expected_counts, expected_remembered, numbers, remembered

from headrace.common import Types, WatermarkStrategy
from headrace.common.errors import HeadraceError, JobCancelledError, StateError


def collect_until(client_and_rows, enough):
    client, rows = client_and_rows
    deadline = time.monotonic() + 20
    while len(rows) < enough and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(rows) >= enough
    return client


def start(stream):
    """Runs a job in the background; its results are filed as they come."""
    results = stream.execute_and_collect()
    rows = []

    def file_rows():
        with contextlib.suppress(JobCancelledError):
            for row in results:
                rows.append(row)

    thread = threading.Thread(target=file_rows, daemon=True)
    thread.start()
    return results, rows, thread


def slow(value):
    time.sleep(0.002)
    return value


def stopped(make_env, parallelism=2, last=1000, drain=False):
    """Starts the pipeline, stops it with a savepoint after a while: (rows so far, path)."""
    env = make_env(parallelism)
    stream = numbers(env, last, parallelism=1).map(slow, Types.LONG()).uid("slow").set_parallelism(1)
    results, rows, thread = start(stream.key_by(lambda v: v % KEYS).process(Remembering()).uid("remembering"))
    collect_until((results, rows), 100)
    path = results._job.stop_with_savepoint(drain, None)
    thread.join(10)
    return rows, path


def resumed(make_env, path, parallelism=2, last=1000, **settings):
    env = make_env(parallelism, execution__state_recovery__path=path, **settings)
    stream = numbers(env, last, parallelism=1).map(lambda v: v, Types.LONG()).uid("slow").set_parallelism(1)
    return list(stream.key_by(lambda v: v % KEYS).process(Remembering()).uid("remembering").execute_and_collect())


@pytest.mark.parametrize("parallelism", [2, 1, 3, 5])
def test_a_stopped_job_goes_on_from_its_savepoint(make_env, parallelism):
    before, path = stopped(make_env)
    after = resumed(make_env, path, parallelism)
    assert sorted(before + after) == expected_remembered(1000)
    assert before and after


@pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 2), (2, 5)])
def test_sources_and_operators_are_spread_anew(make_env, before, after):
    """All of it is rescaled here: splits, keyed state, and what is between them."""
    env = make_env(before)
    results, rows, thread = start(slow_counts(env))
    collect_until((results, rows), 100)
    path = results._job.stop_with_savepoint(False, None)
    thread.join(10)
    rows += slow_counts(make_env(after, execution__state_recovery__path=path)).execute_and_collect()
    assert sorted(rows) == expected_counts(1000)


def slow_counts(env):
    pairs = numbers(env, 1000).map(lambda v: (slow(v) % KEYS, 1)).uid("pairs")
    return pairs.key_by(lambda t: t[0]).reduce(lambda a, b: (a[0], a[1] + b[1])).uid("counts")


def test_a_savepoint_can_be_moved_and_used_again(make_env, tmp_path):
    before, path = stopped(make_env)
    moved = tmp_path / "elsewhere"
    shutil.move(path, moved)
    shutil.rmtree(tmp_path / "checkpoints", ignore_errors=True)
    assert sorted(before + resumed(make_env, str(moved))) == expected_remembered(1000)
    assert sorted(before + resumed(make_env, str(moved / "_metadata"))) == expected_remembered(1000)


def test_a_savepoint_of_a_job_without_checkpoints(make_env):
    before, path = stopped(lambda p, **s: make_env(p, interval=None, **s))
    assert sorted(before + resumed(make_env, path)) == expected_remembered(1000)


def test_a_running_job_goes_on_after_a_savepoint(make_env):
    env = make_env()
    results, rows, thread = start(remembered(env, 1000, slow))
    collect_until((results, rows), 100)
    path = results._job.trigger_savepoint(None)
    thread.join(60)
    assert sorted(rows) == expected_remembered(1000)
    assert sorted(set(rows) | set(resumed(make_env, path))) == expected_remembered(1000)


def test_drained_jobs_fire_their_windows(make_env):
    from headrace.common import Duration
    from headrace.common.time import Time
    from headrace.datastream.window import TumblingEventTimeWindows

    env = make_env(parallelism=1)
    stamped = (
        numbers(env, 100_000)
        .map(slow, Types.LONG())
        .assign_timestamps_and_watermarks(
            WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(0)).with_timestamp_assigner(Stamp())
        )
    )
    sums = (
        stamped.key_by(lambda v: 0)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10**9)))
        .reduce(lambda a, b: a + b)
    )
    results, rows, thread = start(sums)
    time.sleep(0.5)
    results._job.stop_with_savepoint(True, None)
    thread.join(20)
    assert len(rows) == 1 and rows[0] > 1, "the only window is far from complete, and fires all the same"


class Stamp:
    def extract_timestamp(self, value, record_timestamp):
        return value


def test_state_that_nobody_claims_is_refused_unless_it_may_go(make_env):
    _, path = stopped(make_env)
    with pytest.raises(StateError, match="no operator for the state of"):
        env = make_env(execution__state_recovery__path=path)
        numbers(env, 10).key_by(lambda v: v % KEYS).process(Remembering()).uid("renamed").print()
        env.execute()
    env = make_env(execution__state_recovery__path=path, execution__state_recovery__ignore_unclaimed_state="true")
    rows = list(
        numbers(env, 1000).key_by(lambda v: v % KEYS).process(Remembering()).uid("renamed").execute_and_collect()
    )
    assert rows and min(count for _, count, _ in rows) == 1, "the renamed operator started without state"


def test_operators_may_be_added_and_chained_differently(make_env):
    before, path = stopped(make_env)
    env = make_env(execution__state_recovery__path=path)
    stream = numbers(env, 1000, parallelism=1).filter(lambda v: True).set_parallelism(1).map(lambda v: v, Types.LONG())
    stream = stream.uid("slow").set_parallelism(1).disable_chaining()
    after = list(
        stream.key_by(lambda v: v % KEYS)
        .process(Remembering())
        .uid("remembering")
        .map(lambda r: r)
        .disable_chaining()
        .execute_and_collect()
    )
    assert sorted(before + after) == expected_remembered(1000)


@pytest.mark.parametrize("damage", ["truncate", "flip", "remove", "swap"])
def test_damaged_savepoints_are_refused_by_name(make_env, damage):
    _, path = stopped(make_env)
    files = sorted(p for p in Path(path).iterdir() if not p.name.startswith("_") and p.stat().st_size > 500)
    target = files[0]
    data = target.read_bytes()
    if damage == "truncate":
        target.write_bytes(data[: len(data) // 2])
    elif damage == "flip":
        target.write_bytes(data[:200] + bytes([data[200] ^ 8]) + data[201:])
    elif damage == "remove":
        target.unlink()
    else:
        other = files[1].read_bytes()
        files[1].write_bytes(data)
        target.write_bytes(other)
    with pytest.raises(StateError, match="cannot be used"):
        resumed(make_env, path)


def test_a_path_without_savepoint_is_refused(make_env, tmp_path):
    with pytest.raises(HeadraceError, match="no savepoint or checkpoint"):
        resumed(make_env, str(tmp_path))


def test_other_key_groups_are_refused(make_env):
    _, path = stopped(make_env)
    env = make_env(execution__state_recovery__path=path)
    env.set_max_parallelism(64)
    numbers(env, 10).map(lambda v: v).uid("slow").key_by(lambda v: v % KEYS).process(Remembering()).uid(
        "remembering"
    ).print()
    with pytest.raises(StateError, match="another number of key groups"):
        env.execute()


def test_a_savepoint_that_was_changed_is_not_trusted(make_env, tmp_path, monkeypatch):
    """Checksums can be made to fit; the signature cannot."""
    _, path = stopped(make_env)
    metadata = Path(path, "_metadata")
    line = metadata.read_bytes().splitlines(keepends=True)[0].replace(b'"finished":false', b'"finished":true')
    metadata.write_bytes(line + hashlib.sha256(line).hexdigest().encode() + b"\n")
    with pytest.raises(StateError, match="not trusted: _metadata is not the file that was signed"):
        resumed(make_env, path)
    (Path(path) / "_signature").unlink()
    with pytest.raises(StateError, match="not trusted: it has no signature"):
        resumed(make_env, path)


def test_a_savepoint_of_somebody_else_needs_trust(make_env, tmp_path, monkeypatch):
    before, path = stopped(make_env)
    monkeypatch.setenv("HEADRACE_STATE_KEY_FILE", str(tmp_path / "another.key"))
    with pytest.raises(StateError, match="signed with another key"):
        resumed(make_env, path)
    after = resumed(make_env, path, headrace__state__trust="true")
    assert sorted(before + after) == expected_remembered(1000)
    assert (tmp_path / "another.key").stat().st_mode & 0o777 == 0o600


def test_a_claimed_savepoint_goes_when_the_job_has_a_checkpoint_of_its_own(make_env):
    before, path = stopped(make_env)
    after = resumed(make_env, path, execution__state_recovery__claim_mode="CLAIM")
    assert sorted(before + after) == expected_remembered(1000)
    assert not Path(path).exists()


def test_a_claimed_savepoint_goes_when_the_job_finishes_before_a_checkpoint_is_due(make_env):
    before, path = stopped(make_env)
    claim = {"interval": "1 h", "execution__state_recovery__claim_mode": "CLAIM"}
    after = resumed(make_env, path, **claim)
    assert sorted(before + after) == expected_remembered(1000)
    assert not Path(path).exists()


def test_a_claimed_savepoint_stays_when_the_job_is_cancelled_before_its_first_checkpoint(make_env):
    before, path = stopped(make_env)
    claim = {"interval": "1 h", "execution__state_recovery__claim_mode": "CLAIM"}
    env = make_env(2, execution__state_recovery__path=path, **claim)
    stream = numbers(env, 1000, parallelism=1).map(slow, Types.LONG()).uid("slow").set_parallelism(1)
    job = stream.key_by(lambda v: v % KEYS).process(Remembering()).uid("remembering").execute_and_collect()._job
    job.cancel()
    assert sorted(before + resumed(make_env, path)) == expected_remembered(1000)


def test_a_checkpoint_that_a_job_has_left_can_be_restored(make_env, tmp_path):
    env = make_env(
        2,
        execution__checkpointing__externalized_checkpoint_retention="RETAIN_ON_CANCELLATION",
        execution__checkpointing__num_retained=3,
    )
    results, rows, thread = start(remembered(env, 1000, slow))
    collect_until((results, rows), 200)
    results._job.cancel()
    thread.join(10)
    (job,) = (tmp_path / "checkpoints").iterdir()
    kept = sorted(int(slot.name) for slot in (job / "slots").iterdir())
    assert 1 < len(kept) <= 4
    for path in (str(job), f"{job}/chk-{kept[-1]}"):
        after = resumed(make_env, path, 3)
        assert sorted(set(rows) | set(after)) == expected_remembered(1000)
        assert len(rows) + len(after) == 1000
    earlier = resumed(make_env, f"{job}/chk-{kept[0]}")
    assert len(rows) + len(earlier) >= 1000 and set(rows) | set(earlier) == set(expected_remembered(1000))
