"""What a reader finds in the savepoints of real jobs."""

from __future__ import annotations

from pathlib import Path

import pytest
from processor_kit import KEYS, LAST, RULES, TIMER, Mean, Rules, every_kind, numbers, savepoint_of, slow

from headrace.common import Types
from headrace.common.errors import HeadraceError, StateError
from headrace.common.time import Time
from headrace.common.time_domain import TimeDomain
from headrace.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows
from headrace.state_processor import SavepointReader
from headrace.windows.window_types import TimeWindow

BACKENDS = [None, "rocksdb"]


def last_rows(rows):
    """The last row of each key."""
    return {row[0]: row for row in rows}


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_kind_of_keyed_state(make_env, backend):
    rows, path = savepoint_of(every_kind(make_env(backend=backend)), 100)
    last = last_rows(rows)
    reader = SavepointReader.read(path)
    state = {name: dict(reader.keyed_state("every-kind", name)) for name in reader.operator("every-kind").states}
    assert state["count"] == {key: row[1] for key, row in last.items()}
    assert {key: sorted(seen) for key, seen in state["seen"].items()} == {key: row[2] for key, row in last.items()}
    assert {k: sorted(maps.items()) for k, maps in state["by_parity"].items()} == {k: row[3] for k, row in last.items()}
    assert state["largest"] == {key: row[4] for key, row in last.items()}
    assert {k: Mean().get_result(mean) for k, mean in state["mean"].items()} == {k: row[5] for k, row in last.items()}
    assert {key: sorted(timed) for key, timed in state["timed"].items()} == {key: row[6] for key, row in last.items()}
    assert reader.get("every-kind", "count", 3) == last[3][1]
    assert sorted(reader.get("every-kind", "by_parity", 3).items()) == last[3][3]
    assert reader.get("every-kind", "count", "nobody") is None


def test_operators_timers_and_positions(make_env):
    rows, path = savepoint_of(every_kind(make_env()), 100)
    reader = SavepointReader.read(path)
    operator = reader.operator("every-kind")
    assert (operator.parallelism, operator.max_parallelism) == (2, 128)
    assert operator.states == {
        "count": "ValueState",
        "seen": "ListState",
        "by_parity": "MapState",
        "largest": "ReducingState",
        "mean": "AggregatingState",
        "timed": "ListState with time to live",
    }
    assert {"numbers", "slow", "remembering", "every-kind"} <= {o.uid for o in reader.operators()}
    assert reader.operator(operator.id) == operator
    timers = sorted((timer.timestamp, timer.key, timer.domain) for timer in reader.timers("every-kind"))
    assert timers == [(TIMER + v, v % KEYS, TimeDomain.EVENT_TIME) for v in range(1, len(rows) + 1)]
    ((split, *more),) = reader.source_positions().values()
    assert list(reader.source_positions()) == ["numbers"]
    assert not more and not split.finished and split.position is not None
    assert reader.checkpoint_id >= 1


def test_operator_state(make_env):
    rows, path = savepoint_of(every_kind(make_env()), 100)
    reader = SavepointReader.read(path)
    passed = list(range(1, len(rows) + 1))
    assert sorted(reader.list_state("remembering", "passed")) == passed
    assert sorted(reader.union_list_state("remembering", "union")) == passed
    with pytest.raises(StateError, match="no such state: 'passed' \\(BroadcastState\\)"):
        reader.broadcast_state("remembering", "passed")


def test_broadcast_state(make_env):
    env = make_env(2)
    rules = numbers(env, 3, "rules").broadcast(RULES)
    stream = numbers(env, LAST).map(slow, Types.LONG()).set_parallelism(1).connect(rules).process(Rules()).uid("ruled")
    _, path = savepoint_of(stream, 150)
    assert SavepointReader.read(path).broadcast_state("ruled", "rules") == {1: 1, 2: 4, 3: 9}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("assigner", "contents"),
    [
        (TumblingEventTimeWindows.of(Time.milliseconds(50)), "tumbling"),
        (EventTimeSessionWindows.with_gap(Time.milliseconds(KEYS + 1)), "session"),
    ],
)
def test_open_windows(make_env, backend, assigner, contents):
    """No window fires: the watermark is far behind. So what is in the windows is what has passed."""
    env = make_env(2, backend=backend)
    stream = numbers(env, LAST).map(slow, Types.LONG()).uid("slow").set_parallelism(1)
    keyed = stream.key_by(lambda v: v % KEYS, Types.LONG())
    sums = keyed.window(assigner).reduce(lambda a, b: a + b).uid("sums").map(lambda v: v, Types.LONG())
    _, path = savepoint_of(sums.union(stream), 100)
    reader = SavepointReader.read(path)
    found = {(key, window): total for key, window, total in reader.window_contents("sums")}
    passed = int(max(max(w.end for _, w in found) if contents == "tumbling" else 0, 1))
    assert all(isinstance(window, TimeWindow) for _, window in found)
    if contents == "tumbling":
        whole = {k: total for k, total in found.items() if k[1].end < passed}
        assert whole and whole == {
            (key, TimeWindow(start, start + 50)): sum(v for v in range(max(start, 1), start + 50) if v % KEYS == key)
            for start in range(0, passed - 50, 50)
            for key in range(KEYS)
        }
    else:
        assert sorted(key for key, _ in found) == list(range(KEYS)), "one session for each key"
        for (key, window), total in found.items():
            last = window.end - KEYS - 1
            assert total == sum(v for v in range(1, last + 1) if v % KEYS == key)


def test_late_windows_are_those_of_the_general_operator(make_env):
    env = make_env(1)
    stream = numbers(env, LAST).map(slow, Types.LONG()).set_parallelism(1)
    window = stream.key_by(lambda v: 0).window(TumblingEventTimeWindows.of(Time.milliseconds(10**6)))
    _, path = savepoint_of(
        window.allowed_lateness(5).reduce(max).uid("largest").map(lambda v: v, Types.LONG()).union(stream), 100
    )
    reader = SavepointReader.read(path)
    ((key, window, largest),) = reader.window_contents("largest")
    assert (key, window) == (0, TimeWindow(0, 10**6)) and largest >= 100
    assert reader.get("largest", "_window_contents", 0) == {window: largest}
    assert list(reader.keyed_state("largest", "_window_contents")) == [(0, window, largest)]
    assert [(t.timestamp, t.namespace) for t in reader.timers("largest")] == [(10**6 - 1, window), (10**6 + 4, window)]


def test_keys_that_cannot_be_hashed(make_env):
    env = make_env(2)
    stream = numbers(env, LAST).map(slow, Types.LONG()).set_parallelism(1)
    counts = stream.map(lambda v: ([v % 3], 1)).key_by(lambda t: t[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))
    rows, path = savepoint_of(counts.uid("counts"), 100)
    reader = SavepointReader.read(path)
    found = sorted(reader.keyed_state("counts", "_reduce_state"))
    assert [key for key, _ in found] == [[0], [1], [2]]
    assert sum(value[1] for _, value in found) == len(rows)
    assert reader.get("counts", "_reduce_state", [1]) == found[1][1]


def test_deltas_and_bases_are_one_state(make_env):
    """With a checkpoint at every epoch a subtask has many files, each with what changed."""
    env = make_env(1, execution__checkpointing__interval="1 ms", headrace__epoch__max_records="10")
    rows, path = savepoint_of(every_kind(env), 200)
    reader = SavepointReader.read(path)
    assert len(reader.chains(reader.operator("every-kind").id)[0].files) > 3
    assert dict(reader.keyed_state("every-kind", "count")) == {key: row[1] for key, row in last_rows(rows).items()}
    assert len(list(reader.timers("every-kind"))) == len(rows)


def test_unknown_operators_and_states_are_named(make_env):
    _, path = savepoint_of(every_kind(make_env()), 10)
    reader = SavepointReader.read(path)
    with pytest.raises(StateError, match="no such operator"):
        reader.keyed_state("nobody", "count")
    with pytest.raises(StateError, match="no such state: 'nothing'"):
        reader.keyed_state("every-kind", "nothing")


def test_what_is_not_signed_or_damaged_is_refused(make_env, tmp_path, monkeypatch):
    _, path = savepoint_of(every_kind(make_env()), 10)
    monkeypatch.setenv("HEADRACE_STATE_KEY_FILE", str(tmp_path / "other.key"))
    with pytest.raises(StateError, match="signed with another key"):
        SavepointReader.read(path)
    assert SavepointReader.read(path, trust=True).operator("every-kind").states
    Path(path, "_signature").unlink()
    with pytest.raises(StateError, match="no signature"):
        SavepointReader.read(path)
    file = max((p for p in Path(path).iterdir() if not p.name.startswith("_")), key=lambda p: p.stat().st_size)
    data = file.read_bytes()
    file.write_bytes(data[:200] + bytes([data[200] ^ 8]) + data[201:])
    with pytest.raises(StateError, match="cannot be used"):
        SavepointReader.read(path, trust=True)
    with pytest.raises(HeadraceError, match="no savepoint or checkpoint"):
        SavepointReader.read(str(tmp_path / "nowhere"))


def test_checkpoints_are_signed_too(make_env, tmp_path, monkeypatch):
    env = make_env(
        2,
        execution__checkpointing__interval="10 ms",
        execution__checkpointing__dir=str(tmp_path / "checkpoints"),
        execution__checkpointing__externalized_checkpoint_retention="RETAIN_ON_CANCELLATION",
    )
    rows = []
    results = every_kind(env).execute_and_collect()
    for row in results:
        rows.append(row)
        if len(rows) == 200:
            break
    results._job.cancel()
    (job,) = (tmp_path / "checkpoints").iterdir()
    counts = dict(SavepointReader.read(str(job)).keyed_state("every-kind", "count"))
    assert sum(counts.values()) >= 1
    assert set(counts) <= set(range(KEYS))
    monkeypatch.setenv("HEADRACE_STATE_KEY_FILE", str(tmp_path / "another.key"))
    with pytest.raises(StateError, match="signed with another key"):
        SavepointReader.read(str(job))
    assert dict(SavepointReader.read(str(job), trust=True).keyed_state("every-kind", "count")) == counts
