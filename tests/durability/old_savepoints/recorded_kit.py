"""How recorded jobs are run: to a stop with a savepoint, from a savepoint to the end, or straight through.

A job runs in a working directory of its own, on the local executor. Its rows are texts, by the name of the part of the
job that gave them.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import contextmanager

import recorded_values
from recorded_classes import local_classes
from recorded_flows import expected_of_processing_time, joins_and_loops, patterns, processing_time, sources
from recorded_sinks import arrived, sinks
from recorded_states import keyed_states, keys, operator_states, timers
from recorded_values import EARLY, LAST
from recorded_windows import time_windows, triggers_and_evictors, window_joins

from headrace.common import Configuration
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.operator_handle import OperatorHandle

AREAS = {
    "keyed-states": keyed_states,
    "operator-states": operator_states,
    "timers": timers,
    "time-windows": time_windows,
    "triggers-and-evictors": triggers_and_evictors,
    "window-joins": window_joins,
    "patterns": patterns,
    "joins-and-loops": joins_and_loops,
    "processing-time": processing_time,
    "sources": sources,
    "local-classes": local_classes,
    "keys": keys,
}
BACKENDS = ("hashmap", "rocksdb")
WITHOUT_UIDS = "without-uids"
SINKS = "sinks"
UNFINISHED = "unfinished-commit"
"""The job of `SINKS`, killed after a checkpoint was decided and before its commits were done."""
JOB = "recorded"
Rows = dict[str, Counter]


def environment(backend="hashmap", **settings):
    """An environment with a checkpoint at each epoch's end, and a watermark after each record."""
    configuration = {
        "headrace.executor": "local",
        "execution.checkpointing.interval": "20 ms",
        "execution.checkpointing.dir": "checkpoints",
        "execution.checkpointing.savepoint-dir": "savepoints",
        "headrace.epoch.max-records": "10",
        "headrace.epoch.first-records": "10",
        "headrace.watermark.interval-records": "1",
        "restart-strategy.type": "none",
        "state.backend.type": backend,
    }
    named = {key.replace("__", ".").replace("_", "-"): str(value) for key, value in settings.items()}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(configuration | named))
    env.set_parallelism(2)
    return env


@contextmanager
def no_uids():
    """Leave out the uids that programs give, so that operators have ids by their kinds and places."""
    given, OperatorHandle.uid = OperatorHandle.uid, lambda self, uid: self
    try:
        yield
    finally:
        OperatorHandle.uid = given


def operator_ids(area) -> list[list[str]]:
    """The names and ids of the operators of an area whose program gives no uids."""
    env = environment()
    with no_uids():
        sinks(env) if area == SINKS else AREAS[area](env)
    return [[node.name, node.operator_id] for node in env.get_stream_graph().nodes.values()]


def without_uids(env):
    """Parts of several areas, one after the other, without uids."""
    with no_uids():
        return patterns(env) | joins_and_loops(env) | window_joins(env) | operator_states(env)


AREAS[WITHOUT_UIDS] = without_uids


def _collected(area, env):
    """All parts of an area as one stream of (name, text)."""
    first, *others = [
        stream.map(lambda row, name=name: (name, repr(row))).uid(f"shown {name}")
        for name, stream in AREAS[area](env).items()
    ]
    return (first.union(*others) if others else first).execute_and_collect()


def _by_name(pairs) -> Rows:
    rows: Rows = {}
    for name, text in pairs:
        rows.setdefault(name, Counter())[text] += 1
    return rows


def run(area, backend, **settings) -> Rows:
    """Run an area to its end, from a savepoint if `execution__state_recovery__path` says so."""
    return _by_name(_collected(area, environment(backend, **settings)))


def run_sinks(**settings) -> Rows:
    """Run the sinks to the end; gives all that has arrived, also before."""
    env = environment(**settings)
    sinks(env)
    env.execute()
    return arrived()


def _stop_in_the_middle(job):
    """Stop a job with a savepoint once the early elements are processed."""
    deadline = time.monotonic() + 60
    wanted = EARLY + 2 * 10  # an epoch more is certainly processed
    while job.last_epoch.get("totalInputRows", 0) < wanted and time.monotonic() < deadline:
        if job.status().is_terminal_state():
            job.wait()
        time.sleep(0.001)
    return job.stop_with_savepoint(False, None)


def stop(area, backend) -> tuple[Rows, str]:
    """Run an area half-way: its rows so far, and the savepoint."""
    recorded_values.pace = 0.005
    try:
        results = _collected(area, environment(backend))
        path = _stop_in_the_middle(results._job)
        return _by_name(results), path
    finally:
        recorded_values.pace = 0.0


def stop_sinks() -> str:
    """Run the sinks half-way: the savepoint."""
    recorded_values.pace = 0.005
    try:
        env = environment()
        sinks(env)
        return _stop_in_the_middle(env.execute_async()._handle)
    finally:
        recorded_values.pace = 0.0


def straight(area, backend) -> Rows:
    """What an area gives in all, without a stop."""
    if area == "processing-time":  # how much is due in time would depend on how fast the machine is
        return {name: Counter(map(repr, rows)) for name, rows in expected_of_processing_time().items()}
    return run(area, backend)


def all_numbers() -> Counter:
    return Counter(range(1, LAST + 1))
