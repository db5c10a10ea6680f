"""Savepoints of SQL jobs: they go on in another program with the same query, and refuse one whose state does not fit."""

from __future__ import annotations

import time
from collections import Counter

import pytest
from durability_kit import numbers

from headrace.checkpoint.manifests import IncompatibleStateError
from headrace.common import Row, Types
from headrace.table import StreamTableEnvironment

LAST = 1500
KIND = Types.ROW_NAMED(["k", "v"], [Types.LONG(), Types.LONG()])
COUNTS = "SELECT k, COUNT(*), SUM(v) FROM numbers GROUP BY k"
QUERIES = {
    "group": COUNTS,
    "join": "SELECT a.v, b.n FROM numbers a JOIN (SELECT k, COUNT(*) AS n FROM numbers GROUP BY k) b ON a.v = b.k",
    "top": "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS n FROM numbers) WHERE n <= 2",
}


def slowly(value):
    time.sleep(0.001)
    return Row(value % 7, value)


def quickly(value):
    return Row(value % 7, value)


def changes(env, query, rows=quickly, others=0, **options):
    """The changes of a query over the numbers, in an environment that has made other tables before."""
    t_env = StreamTableEnvironment.create(env)
    for key, value in options.items():
        t_env.get_config().set(key.replace("__", "."), value)
    for _ in range(others):
        t_env.from_elements([(1,)])
    stream = numbers(env, LAST, parallelism=1).map(rows, KIND).uid("rows").set_parallelism(1)
    t_env.create_temporary_view("numbers", t_env.from_data_stream(stream))
    return t_env.to_changelog_stream(t_env.sql_query(query))


def stopped(make_env, query, **options):
    """Stop a query with a savepoint after a while. Return its changes so far and the path."""
    results = changes(make_env(2), query, slowly, **options).execute_and_collect()
    rows = [next(results) for _ in range(100)]
    path = results._job.stop_with_savepoint(False, None)
    return rows + list(results), path


def resumed(make_env, path, query, parallelism=3, others=4, **options):
    env = make_env(parallelism, execution__state_recovery__path=path)
    return list(changes(env, query, others=others, **options).execute_and_collect())


def remaining(rows):
    found = Counter()
    for row in rows:
        found[tuple(row)] += -1 if row.get_row_kind().value in (1, 3) else 1
    assert min(found.values(), default=0) >= 0
    return +found


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_a_query_goes_on_in_another_program(make_env, query):
    """With another parallelism, and in a process in which more tables were made before."""
    before, path = stopped(make_env, query)
    after = resumed(make_env, path, query)
    assert before and after
    assert remaining(before + after) == remaining(changes(make_env(1), query).execute_and_collect())


INCOMPATIBLE = {
    "another aggregate": "SELECT k, MAX(v), SUM(v) FROM numbers GROUP BY k",
    "one aggregate more": "SELECT k, COUNT(*), SUM(v), MAX(v) FROM numbers GROUP BY k",
    "distinct": "SELECT k, COUNT(*), SUM(DISTINCT v) FROM numbers GROUP BY k",
    "another type": "SELECT k, COUNT(*), SUM(v) FROM (SELECT k, CAST(v AS DOUBLE) AS v FROM numbers) GROUP BY k",
    "other keys": "SELECT v, COUNT(*), SUM(k) FROM numbers GROUP BY v",
}


def test_a_query_whose_state_does_not_fit_is_refused(make_env):
    _, path = stopped(make_env, COUNTS)
    for what, query in INCOMPATIBLE.items():
        with pytest.raises(IncompatibleStateError, match=r"GroupAggregate|operator"):
            pytest.fail(f"{what}: {resumed(make_env, path, query)[:3]}")


@pytest.mark.parametrize("name", ["counts", "filter"])
def test_changes_that_keep_the_state_are_accepted(make_env, name):
    """Names of columns, and expressions over results."""
    _, path = stopped(make_env, COUNTS)
    query = {
        "counts": "SELECT k, COUNT(*) AS n, SUM(v) AS total FROM numbers GROUP BY k",
        "filter": "SELECT k, COUNT(*), SUM(v) FROM numbers GROUP BY k HAVING COUNT(*) > 0",
    }[name]
    after = resumed(make_env, path, query)
    assert max(row[1] for row in after) == sum(v % 7 == 1 for v in range(1, LAST + 1))


def test_a_time_to_live_may_change(make_env):
    rows, path = stopped(make_env, COUNTS, table__exec__state__ttl="1 h")
    rows += resumed(make_env, path, COUNTS, table__exec__state__ttl="2 h")
    assert remaining(rows) == remaining(changes(make_env(1), COUNTS).execute_and_collect())


@pytest.mark.parametrize(("before", "after"), [("0 ms", "1 h"), ("1 h", "0 ms")])
def test_a_time_to_live_cannot_be_added_or_taken_away(make_env, before, after):
    _, path = stopped(make_env, COUNTS, table__exec__state__ttl=before)
    with pytest.raises(IncompatibleStateError, match="ttl=True"):
        resumed(make_env, path, COUNTS, table__exec__state__ttl=after)


@pytest.mark.parametrize(("before", "after"), [("false", "true"), ("true", "false")])
def test_mini_batches_can_be_switched(make_env, before, after):
    """Nothing that waits for the rest of its batch is lost with the savepoint."""

    def options(enabled):
        if enabled == "false":
            return {}
        keys = {"enabled": "true", "allow-latency": "1 h", "size": "10000"}
        return {f"table__exec__mini-batch__{key}": value for key, value in keys.items()}

    env_rows = changes(make_env(2), COUNTS, slowly, **options(before)).execute_and_collect()
    rows = [next(env_rows) for _ in range(20)]
    path = env_rows._job.stop_with_savepoint(False, None)
    rows += list(env_rows)
    rows += resumed(make_env, path, COUNTS, **options(after))
    assert remaining(rows) == remaining(changes(make_env(1), COUNTS).execute_and_collect())
