"""INSERT INTO files, in SQL alone: stopped with a savepoint, resumed with `SET`, each row is in the files once."""

from __future__ import annotations

import json
import time
from collections import Counter

import pytest

from headrace.common.errors import HeadraceError
from headrace.table import StreamTableEnvironment

LAST = 2000
TABLES = (
    f"""CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000',
        'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '{LAST}')""",
    """CREATE TABLE files (k BIGINT, n BIGINT, c BIGINT) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{}',
        'sink.rolling-policy.file-size' = '3kb')""",
)
INSERT = """INSERT INTO files SELECT n / 10, n, COUNT(*) OVER (PARTITION BY n / 10 ORDER BY p)
    FROM (SELECT n, PROCTIME() AS p FROM numbers)"""


def session(make_env, folder, parallelism, path=None):
    t_env = StreamTableEnvironment.create(make_env(parallelism))
    for text in TABLES:
        t_env.execute_sql(text.format(folder))
    if path is not None:
        t_env.execute_sql(f"SET 'execution.state-recovery.path' = '{path}'")
    return t_env


def written(folder):
    parts = [p for p in folder.rglob("*") if p.is_file() and not p.name.startswith((".", "_"))]
    return [json.loads(line) for p in parts for line in p.read_text().splitlines()]


def stopped(make_env, folder):
    """Stop the INSERT with a savepoint as soon as it has finished a file. Others are open then."""
    client = session(make_env, folder, 2).execute_sql(INSERT).get_job_client()
    deadline = time.monotonic() + 60
    while not (folder.exists() and written(folder)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return client.stop_with_savepoint(False, str(folder.parent / "savepoints")).result()


@pytest.mark.parametrize("parallelism", [2, 3])
def test_an_insert_goes_on_from_its_savepoint(make_env, tmp_path, parallelism):
    folder = tmp_path / "files"
    path = stopped(make_env, folder)
    before = written(folder)
    assert 0 < len(before) < LAST
    session(make_env, folder, parallelism, path).execute_sql(INSERT).wait()
    rows = written(folder)
    assert Counter(row["n"] for row in rows) == Counter(range(1, LAST + 1))
    counts = Counter((row["k"], row["c"]) for row in rows)
    assert max(counts.values()) == 1, "the count of a key went on where it was"


def test_another_query_is_refused(make_env, tmp_path):
    folder = tmp_path / "files"
    path = stopped(make_env, folder)
    with pytest.raises(HeadraceError, match="STATE_INCOMPATIBLE"):
        session(make_env, folder, 2, path).execute_sql("INSERT INTO files SELECT n, n, n FROM numbers").wait()
    grown = INSERT.replace("COUNT(*)", "MAX(n)")
    with pytest.raises(HeadraceError, match="STATE_INCOMPATIBLE"):
        session(make_env, folder, 2, path).execute_sql(grown).wait()
