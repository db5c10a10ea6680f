"""What only PostgreSQL can go through, and what only SQLite can."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter

import pytest
from sink_kit import environment, numbers, place

from headrace.connectors.jdbc.database import DatabaseError
from headrace.connectors.jdbc.staged import _Committer


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
class TestPostgres:
    def test_connections_break_again_and_again(self, kind, outer, tmp_path, postgres):
        env = environment(tmp_path, **{"restart-strategy.fixed-delay.attempts": "1000"})
        outer.attach(numbers(env, 10_000))
        result = env.execute_async().get_job_execution_result()
        breaks = 0
        while not result.done() and breaks < 8:
            time.sleep(0.2)
            postgres.restart_connections()
            breaks += 1
        assert breaks >= 3, "the job was at work"
        result.result()
        assert outer.arrived() == Counter(range(1, 10_001))
        assert outer.leftovers() == []

    def test_no_server(self, kind, tmp_path, url):
        there = place(kind, tmp_path, url)
        there.url = f"jdbc:postgresql://nobody@{str(tmp_path).replace('/', '%2F')}/none"
        env = environment(tmp_path, **{"restart-strategy.type": "none"})
        there.attach(numbers(env, 10))
        with pytest.raises(DatabaseError) as raised:
            env.execute()
        assert raised.value.seen == there.url

    def test_tables_can_be_made_by_somebody_else(self, kind, outer, tmp_path, url):
        env = environment(tmp_path)
        outer.attach(numbers(env, 10))
        env.execute()
        outer.ask("CREATE ROLE writer LOGIN")
        outer.ask("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        outer.ask("GRANT SELECT, INSERT, DELETE, UPDATE ON numbers, headrace_staged, headrace_committed TO writer")
        outer.url = url.replace("tester@", "writer@")
        env = environment(tmp_path)
        outer.attach(numbers(env, 10))
        env.execute()
        assert outer.arrived() == Counter({v: 2 for v in range(1, 11)})


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_another_writer_of_the_same_file(kind, outer, tmp_path):
    env = environment(tmp_path)
    outer.attach(numbers(env, 500))
    blocker = sqlite3.connect(tmp_path / "outer.db", isolation_level=None, check_same_thread=False)
    blocker.execute("BEGIN IMMEDIATE")
    client = env.execute_async()
    time.sleep(0.5)
    blocker.execute("COMMIT")
    blocker.close()
    client.get_job_execution_result().result()
    assert outer.arrived() == Counter(range(1, 501))


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_garbage_that_cannot_be_collected_does_not_stop_the_job(kind, outer, tmp_path, monkeypatch):
    asked = []
    real = _Committer.staged

    def staged(committer):
        asked.append(committer)
        if len(asked) > 1:  # the first time it is the recovery that asks
            raise DatabaseError("The database failed: it is away")
        return real(committer)

    monkeypatch.setattr(_Committer, "staged", staged)
    env = environment(tmp_path, **{"restart-strategy.type": "none"})
    outer.attach(numbers(env, 1000))
    env.execute()
    assert len(asked) > 2
    assert outer.arrived() == Counter(range(1, 1001))
