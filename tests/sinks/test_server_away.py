"""A server that goes away while a job writes to it, and comes back: nothing is lost, nothing is there twice."""

from __future__ import annotations

import time
from collections import Counter

import pytest
from sink_kit import SERVERS, environment, numbers

LAST, RATE = 900, 600
PATIENT = {"restart-strategy.fixed-delay.attempts": "100", "restart-strategy.fixed-delay.delay": "100 ms"}


UPSERTS = {
    "postgres": "INSERT INTO latest VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET name = excluded.name",
    "mariadb": "REPLACE INTO latest VALUES (?, ?)",
}


@pytest.mark.parametrize("kind", SERVERS, indirect=True)
@pytest.mark.parametrize("exactly_once", [True, False], ids=["exactly once", "at least once"])
def test_the_server_is_away_for_some_time(kind, url, tmp_path, exactly_once, request):
    server = request.getfixturevalue(kind)
    rows = SERVERS[kind](url, exactly_once=exactly_once)
    if not exactly_once:
        rows.ask("CREATE TABLE latest (id bigint PRIMARY KEY, name text)")
        rows.sql = UPSERTS[kind]
    table = "numbers" if exactly_once else "latest"
    env = environment(tmp_path, **PATIENT, **{"execution.checkpointing.interval": "50 ms"})
    rows.attach(numbers(env, LAST).limit_rate(RATE))
    job = env.execute_async()
    deadline = time.monotonic() + 30
    while not (before := rows.ask(f"SELECT count(*) FROM {table}")[0][0]):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    server.pause()
    time.sleep(1.5)
    assert not job.get_job_status().result().is_terminal_state(), "it waits, or starts again and again"
    server.resume()
    job.get_job_execution_result().result()
    assert 0 < before < LAST, "the server went away in the midst"
    found = Counter(value for (value,) in rows.ask(f"SELECT id FROM {table}"))
    assert found == Counter(range(1, LAST + 1))
