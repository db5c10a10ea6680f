"""JDBC sinks on SQLite and on real PostgreSQL and MariaDB: what arrives, and what is said when it cannot."""

from __future__ import annotations

import datetime
import threading
import time
from collections import Counter
from decimal import Decimal

import pytest
from sink_kit import SERVERS, FailsOnce, SqliteRows, environment, numbers

from headrace.common import Row, Types
from headrace.common.errors import InvalidProgramError
from headrace.common.time import Instant
from headrace.connectors.base.sink_committer import Handle, StagedOutputLostError
from headrace.connectors.base.sink_writer import EpochEnd, WriterContext
from headrace.connectors.jdbc.database import RowRefusedError
from headrace.datastream.connectors.jdbc import JdbcSink
from headrace.foundation.faultpoints import counting

pytestmark = pytest.mark.parametrize("kind", ["sqlite", "postgres", "mariadb"], indirect=True)

CONFLICT = "INSERT INTO latest VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET name = excluded.name"
UPSERTS = {
    "sqlite": CONFLICT,
    "postgres": CONFLICT,
    "mariadb": "INSERT INTO latest VALUES (?, ?) ON DUPLICATE KEY UPDATE name = VALUES(name)",
}


COLUMNS = {
    "sqlite": "b blob, d text, day text, at text, moment text",
    "postgres": "b bytea, d numeric, day date, at timestamp, moment timestamptz",
    "mariadb": "b blob, d decimal(9, 2), day date, at datetime(6), moment datetime(6)",
}


@pytest.fixture
def at_least_once(kind, tmp_path, url):
    return SERVERS[kind](url, exactly_once=False) if kind in SERVERS else SqliteRows(tmp_path, exactly_once=False)


def test_at_least_once_without_failure(at_least_once, tmp_path):
    env = environment(tmp_path)
    at_least_once.attach(numbers(env, 500))
    env.execute()
    assert at_least_once.arrived() == Counter(range(1, 501))


def test_at_least_once_after_a_failure(at_least_once, tmp_path):
    env = environment(tmp_path, **{"execution.checkpointing.interval": "1 h"})
    at_least_once.attach(numbers(env, 500).map(FailsOnce(tmp_path, 250)))
    env.execute()
    arrived = at_least_once.arrived()
    assert set(arrived) == set(range(1, 501))
    assert max(arrived.values()) == 2, "what came before the failure came again"


def test_an_upsert_makes_it_exactly_once(kind, at_least_once, tmp_path):
    at_least_once.ask("CREATE TABLE latest (id bigint PRIMARY KEY, name text)")
    at_least_once.sql = UPSERTS[kind]
    env = environment(tmp_path, **{"execution.checkpointing.interval": "1 h"})
    at_least_once.attach(numbers(env, 500).map(FailsOnce(tmp_path, 250)))
    env.execute()
    rows = at_least_once.ask("SELECT id, name FROM latest ORDER BY id")
    assert rows == [(v, f"number {v}") for v in range(1, 501)]


@pytest.mark.parametrize("make", [JdbcSink.sink, JdbcSink.exactly_once_sink])
def test_types(kind, outer, tmp_path, make):
    text = kind == "sqlite"
    outer.ask(f"CREATE TABLE kinds (i bigint, f double precision, s text, {COLUMNS[kind]}, yes boolean, no_text text)")
    day, at = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 1, 2, 3, 456000)
    row = Row(2**40, 0.5, "ü'?%s", b"\x00\xff", Decimal("1.10"), day, at, Instant(1, 500_000_000), True, None)
    types = [
        Types.LONG(), Types.DOUBLE(), Types.STRING(), Types.PRIMITIVE_ARRAY(Types.BYTE()), Types.BIG_DEC(),
        Types.SQL_DATE(), Types.SQL_TIMESTAMP(), Types.INSTANT(), Types.BOOLEAN(), Types.STRING(),
    ]  # fmt: skip
    env = environment(tmp_path, 1)
    sql = f"INSERT INTO kinds VALUES ({', '.join('?' * len(types))})"
    env.from_collection([row], Types.ROW(types)).add_sink(make(sql, Types.ROW(types), outer.options()))
    env.execute()
    (found,) = outer.ask("SELECT * FROM kinds")
    if text:
        expected = ("1.10", "2024-02-29", "2024-02-29 01:02:03.456000", "1970-01-01 00:00:01.500000+00:00")
    else:
        zone = None if kind == "mariadb" else datetime.timezone.utc
        moment = datetime.datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=zone)
        expected = (Decimal("1.10"), day, at, moment)
    assert tuple(found) == (2**40, 0.5, "ü'?%s", b"\x00\xff", *expected, True, None)


def test_a_refused_row_is_named(at_least_once, tmp_path):
    at_least_once.ask("CREATE TABLE small (id bigint CHECK (id <> 333), name text)")
    at_least_once.sql = "INSERT INTO small VALUES (?, ?)"
    env = environment(tmp_path, **{"restart-strategy.type": "none"})
    at_least_once.attach(numbers(env, 500))
    with pytest.raises(RowRefusedError) as raised:
        env.execute()
    assert raised.value.seen == "INSERT INTO small VALUES (?, ?) with (333, 'number 333')"
    assert "constraint" in raised.value.message.lower()
    assert raised.value.operator_name is not None
    assert 333 not in [v for (v,) in at_least_once.ask("SELECT id FROM small")]


def test_a_commit_that_is_refused_names_the_row_and_goes_on_later(outer, tmp_path):
    outer.ask("CREATE TABLE small (id bigint CHECK (id <> 333), name text)")
    outer.sql = "INSERT INTO small VALUES (?, ?)"
    settings = {"restart-strategy.type": "none", "headrace.job.id": "kept"}

    def run():
        env = environment(tmp_path, **settings)
        outer.attach(numbers(env, 500))
        env.execute()

    with pytest.raises(RowRefusedError, match="small") as raised:
        run()
    assert "(333, 'number 333')" in raised.value.seen
    outer.ask("ALTER TABLE small RENAME TO checked")
    outer.ask("CREATE TABLE small (id bigint, name text)")
    outer.ask("INSERT INTO small SELECT * FROM checked")
    run()
    assert Counter(v for (v,) in outer.ask("SELECT id FROM small")) == Counter(range(1, 501))


def test_the_table_comes_late(outer, tmp_path):
    outer.ask("DROP TABLE numbers")
    env = environment(tmp_path, **{"restart-strategy.fixed-delay.attempts": "100"})
    outer.attach(numbers(env, 500))

    def create():
        time.sleep(2)
        outer.ask("CREATE TABLE numbers (id bigint, name text)")

    thread = threading.Thread(target=create)
    thread.start()
    env.execute()
    thread.join()
    assert outer.arrived() == Counter(range(1, 501))


@pytest.mark.parametrize("value", [threading.Event, {"a": 1}, Row(1), {1}])
def test_a_value_that_no_database_has_is_refused_before_the_checkpoint(outer, tmp_path, value):
    kind = Types.ROW([Types.PICKLED_BYTE_ARRAY()])
    env = environment(tmp_path, 1, **{"restart-strategy.type": "none"})
    sink = JdbcSink.exactly_once_sink("INSERT INTO numbers (id) VALUES (?)", kind, outer.options())
    env.from_collection([Row(value)], kind).add_sink(sink)
    with counting() as reached, pytest.raises(InvalidProgramError, match="a value that"):
        env.execute()
    assert not reached["manifest.post"]


class TestPromisesOfTheCommitter:
    """Those of headrace.connectors.base.sink, with which the protocol works."""

    def staged(self, outer, values, epoch=1):
        definition = outer.sink(batch_size=2).get_definition()
        writer = definition.open_writer(WriterContext("sink", "job"), [])
        writer.write([Row(v, f"number {v}") for v in values], None)
        (payload,) = writer.end_epoch(EpochEnd(f"handle-{epoch}", epoch, 1))
        writer.close()
        assert payload["rows"] == len(values)
        return definition.open_committer("job", "sink"), Handle(f"handle-{epoch}", 0, epoch, 1, payload)

    def test_commit_again_and_again(self, outer):
        committer, handle = self.staged(outer, range(5))
        assert [h.id for h in committer.staged()] == [handle.id]
        assert outer.arrived() == Counter()
        for _ in range(3):
            committer.commit(handle)
        assert outer.arrived() == Counter(range(5))
        assert not committer.staged()
        assert committer.abort(handle) is False
        committer.close()

    def test_aborted_never_commits(self, outer):
        committer, handle = self.staged(outer, range(5))
        assert committer.abort(handle) is True
        assert committer.abort(handle) is True
        with pytest.raises(StagedOutputLostError, match="not staged any more"):
            committer.commit(handle)
        assert outer.arrived() == Counter()
        committer.close()

    def test_a_missing_part_is_noticed(self, outer):
        committer, handle = self.staged(outer, range(5))
        outer.ask("DELETE FROM headrace_staged WHERE part = 1")
        with pytest.raises(StagedOutputLostError, match="not staged any more") as raised:
            committer.commit(handle)
        assert raised.value.seen.startswith("2 of 3 parts")
        assert outer.arrived() == Counter()
        committer.close()

    def test_two_drivers_commit_at_the_same_time(self, outer):
        committer, handle = self.staged(outer, range(400))
        other = outer.sink().get_definition().open_committer("job", "sink")
        errors = []

        def commit(which):
            try:
                which.commit(handle)
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=commit, args=(which,)) for which in (committer, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert outer.arrived() == Counter(range(400))
        committer.close()
        other.close()

    def test_other_jobs_and_sinks_are_left_alone(self, outer):
        committer, handle = self.staged(outer, range(5))
        definition = outer.sink().get_definition()
        for stranger in (definition.open_committer("job-2", "sink"), definition.open_committer("job", "sink-2")):
            assert not stranger.staged()
            stranger.close()
        committer.commit(handle)
        committer.close()

    def test_old_records_are_forgotten_and_never_repeated(self, outer):
        committer, first = self.staged(outer, [1], epoch=1)
        committer.commit(first)
        late, handle = self.staged(outer, [2], epoch=2000)
        late.commit(handle)
        assert outer.ask("SELECT checkpoint FROM headrace_committed") == [(2000,)]
        with pytest.raises(StagedOutputLostError):
            committer.commit(first)
        assert outer.arrived() == Counter([1, 2])
        committer.close()
        late.close()
