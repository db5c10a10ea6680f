"""What only MariaDB (and MySQL) can go through: broken connections, locks, sizes, time zones, its own SQL."""

from __future__ import annotations

import datetime
import time
from collections import Counter

import pymysql
import pytest
from sink_kit import MariaRows, environment, numbers, place

from headrace.common import Row, Types
from headrace.common.errors import InvalidProgramError
from headrace.common.time import Instant
from headrace.connectors.jdbc.database import DatabaseError, RowRefusedError
from headrace.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcSink

pytestmark = pytest.mark.parametrize("kind", ["mariadb"], indirect=True)
BOTH = pytest.mark.parametrize("make", [JdbcSink.sink, JdbcSink.exactly_once_sink], ids=["at least", "exactly"])


def write(outer, tmp_path, make, sql, types, *rows):
    kind = Types.ROW(types)
    env = environment(tmp_path, 1, **{"restart-strategy.type": "none"})
    env.from_collection([Row(*row) for row in rows], kind).add_sink(make(sql, kind, outer.options()))
    env.execute()


def test_connections_break_again_and_again(kind, outer, tmp_path, mariadb):
    env = environment(tmp_path, **{"restart-strategy.fixed-delay.attempts": "1000"})
    outer.attach(numbers(env, 10_000))
    result = env.execute_async().get_job_execution_result()
    breaks = 0
    while not result.done() and breaks < 8:
        time.sleep(0.2)
        mariadb.restart_connections()
        breaks += 1
    assert breaks >= 3, "the job was at work"
    result.result()
    assert outer.arrived() == Counter(range(1, 10_001))
    assert outer.leftovers() == []


def test_no_server(kind, tmp_path, url):
    there = place(kind, tmp_path, url)
    there.url = f"jdbc:mysql://nobody:hidden@localhost/none?localSocket={tmp_path}/nothing&password=hidden"
    env = environment(tmp_path, **{"restart-strategy.type": "none"})
    there.attach(numbers(env, 10))
    with pytest.raises(DatabaseError) as raised:
        env.execute()
    assert raised.value.seen == "jdbc:mysql://nobody:***@localhost/none"
    assert "hidden" not in str(raised.value)


def test_tables_can_be_made_by_somebody_else(kind, outer, tmp_path, url, mariadb):
    env = environment(tmp_path)
    outer.attach(numbers(env, 10))
    env.execute()
    database = outer.url.partition("?")[0].rpartition("/")[2]
    mariadb.ask(
        "CREATE USER IF NOT EXISTS writer@localhost",
        *(
            f"GRANT SELECT, INSERT, DELETE, UPDATE ON {database}.{table} TO writer@localhost"
            for table in ("numbers", "headrace_staged", "headrace_committed")
        ),
    )
    outer.url = f"jdbc:mariadb://writer@localhost/{database}?{url.partition('?')[2]}"
    env = environment(tmp_path)
    outer.attach(numbers(env, 10))
    env.execute()
    assert outer.arrived() == Counter({v: 2 for v in range(1, 11)})


@pytest.mark.parametrize("scheme", ["mysql", "mariadb"])
@BOTH
def test_its_own_sql(kind, mariadb, tmp_path, make, scheme):
    outer = MariaRows(mariadb.create_database(scheme))
    outer.ask("CREATE TABLE `what?` (id int PRIMARY KEY, n int, note text)")
    sql = (
        "INSERT INTO `what?` (id, n, note) VALUES (?, ?, 'it\\'s 100 % ?')  # new ?\n"
        'ON DUPLICATE KEY UPDATE n = n + VALUES(n) % 7, note = "why?" /* ? */'
    )
    write(outer, tmp_path, make, sql, [Types.INT(), Types.INT()], (1, 5), (2, 6), (1, 15))
    assert outer.ask("SELECT * FROM `what?` ORDER BY id") == [(1, 6, "why?"), (2, 6, "it's 100 % ?")]


@BOTH
def test_updates_and_deletes(kind, outer, tmp_path, make):
    outer.ask("INSERT INTO numbers VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    write(outer, tmp_path, make, "DELETE FROM numbers WHERE id = ? AND name LIKE 'b%'", [Types.INT()], (1,), (2,))
    assert outer.ask("SELECT id FROM numbers ORDER BY id") == [(1,), (3,)]


@BOTH
def test_rows_that_are_large_together(kind, outer, tmp_path, make):
    outer.ask("CREATE TABLE large (id int, data longblob)")
    rows = [(number, bytes([number]) * (1 << 20)) for number in range(24)]
    types = [Types.INT(), Types.PRIMITIVE_ARRAY(Types.BYTE())]
    write(outer, tmp_path, make, "INSERT INTO large VALUES (?, ?)", types, *rows)
    assert outer.ask("SELECT id, length(data), ascii(data) FROM large ORDER BY id") == [
        (number, 1 << 20, number) for number in range(24)
    ]


@BOTH
def test_points_in_time_do_not_depend_on_the_servers_zone(kind, outer, tmp_path, make, mariadb):
    mariadb.ask("SET GLOBAL time_zone = '+05:00'")
    try:
        outer.ask("CREATE TABLE times (moment timestamp(6) NULL, plain datetime(6))")
        at = datetime.datetime(2024, 2, 29, 1, 2, 3, 456000)
        types = [Types.INSTANT(), Types.SQL_TIMESTAMP()]
        write(outer, tmp_path, make, "INSERT INTO times VALUES (?, ?)", types, (Instant(86_400, 500_000_000), at))
        assert outer.ask("SELECT unix_timestamp(moment), plain FROM times") == [(pytest.approx(86_400.5), at)]
    finally:
        mariadb.ask("SET GLOBAL time_zone = 'SYSTEM'")


@BOTH
def test_what_does_not_fit_is_not_cut(kind, outer, tmp_path, make, mariadb):
    outer.ask("CREATE TABLE narrow (name varchar(3))")
    mariadb.ask("SET GLOBAL sql_mode = ''")
    try:
        with pytest.raises(RowRefusedError, match="too long"):
            write(outer, tmp_path, make, "INSERT INTO narrow VALUES (?)", [Types.STRING()], ("long",))
    finally:
        mariadb.ask("SET GLOBAL sql_mode = DEFAULT")
    assert outer.ask("SELECT * FROM narrow") == []


@BOTH
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_it_does_not_have(kind, outer, tmp_path, make, number):
    with pytest.raises(InvalidProgramError, match="does not take"):
        write(outer, tmp_path, make, "INSERT INTO numbers (id) VALUES (?)", [Types.DOUBLE()], (number,))


def test_staged_rows_are_in_a_table_with_transactions(kind, outer, tmp_path, mariadb):
    mariadb.ask("SET GLOBAL default_storage_engine = 'MyISAM'")
    try:
        env = environment(tmp_path)
        outer.attach(numbers(env, 10))
        env.execute()
    finally:
        mariadb.ask("SET GLOBAL default_storage_engine = 'InnoDB'")
    engines = outer.ask(
        "SELECT DISTINCT engine FROM information_schema.tables "
        "WHERE table_schema = DATABASE() AND table_name LIKE 'headrace%'"
    )
    assert engines == [("InnoDB",)]


def test_a_lock_is_waited_for(kind, outer, tmp_path, mariadb):
    outer.ask("CREATE TABLE latest (id bigint PRIMARY KEY, name text)")
    outer.ask("INSERT INTO latest VALUES (1, 'old')")
    database = outer.url.partition("?")[0].rpartition("/")[2]
    blocker = pymysql.connect(user="root", unix_socket=mariadb.socket, database=database)
    with blocker.cursor() as cursor:
        cursor.execute("SELECT * FROM latest FOR UPDATE")
    outer.sql = "REPLACE INTO latest VALUES (?, ?)"
    env = environment(tmp_path)
    outer.attach(numbers(env, 100))
    job = env.execute_async()
    time.sleep(0.5)
    blocker.rollback()
    blocker.close()
    job.get_job_execution_result().result()
    assert outer.ask("SELECT id, name FROM latest ORDER BY id") == [(v, f"number {v}") for v in range(1, 101)]


def test_the_driver_may_be_named(kind, url):
    for driver in ("com.mysql.cj.jdbc.Driver", "com.mysql.jdbc.Driver", "org.mariadb.jdbc.Driver"):
        JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(url).with_driver_name(driver).build()
