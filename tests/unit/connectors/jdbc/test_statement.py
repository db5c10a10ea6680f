"""Question marks of JDBC's SQL: which are parameters, and how drivers want them written."""

from __future__ import annotations

import pytest

from headrace.common import Types
from headrace.common.errors import ConfigurationError, InvalidProgramError
from headrace.connectors.jdbc.database import Address
from headrace.connectors.jdbc.postgresql import connection_uri
from headrace.connectors.jdbc.statement import Statement
from headrace.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink


@pytest.mark.parametrize(
    ("sql", "parameters", "for_postgres"),
    [
        ("INSERT INTO t VALUES (?, ?)", 2, "INSERT INTO t VALUES (%s, %s)"),
        ("UPDATE t SET a = 'it''s ?' WHERE b = ?", 1, "UPDATE t SET a = 'it''s ?' WHERE b = %s"),
        ('INSERT INTO "odd?name" VALUES (?)', 1, 'INSERT INTO "odd?name" VALUES (%s)'),
        ("INSERT INTO t VALUES (?) -- why?\n, (?)", 2, "INSERT INTO t VALUES (%s) -- why?\n, (%s)"),
        ("INSERT /* ? */ INTO t VALUES (?)", 1, "INSERT /* ? */ INTO t VALUES (%s)"),
        ("INSERT INTO t VALUES ($x$ ? $x$, ?)", 1, "INSERT INTO t VALUES ($x$ ? $x$, %s)"),
        ("INSERT INTO t SELECT ? WHERE doc ?? 'a'", 1, "INSERT INTO t SELECT %s WHERE doc ? 'a'"),
        ("INSERT INTO t VALUES (? % 7, '5%')", 1, "INSERT INTO t VALUES (%s %% 7, '5%%')"),
    ],
)
def test_parameters(sql, parameters, for_postgres):
    assert Statement(sql).parameters == parameters
    assert Statement(sql).with_marks("%s") == for_postgres


def options(url="jdbc:sqlite:/tmp/x", driver=None, user=None):
    builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(url)
    if driver is not None:
        builder = builder.with_driver_name(driver)
    if user is not None:
        builder = builder.with_user_name(user)
    return builder.build()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"url": "jdbc:oracle:thin:@db"}, "no database that headrace can write to"),
        ({"url": "/tmp/x"}, "no database that headrace can write to"),
        ({"url": "jdbc:sqlite::memory:"}, "one process only"),
        ({"driver": "org.postgresql.Driver"}, "driver does not fit"),
        ({"user": "app"}, "no users"),
    ],
)
def test_options_that_cannot_be_honoured_are_refused(given, message):
    with pytest.raises(ConfigurationError, match=message):
        options(**given)


def test_a_password_is_not_shown():
    address = Address("jdbc:postgresql://db/shop?password=secret", "app", "secret")
    assert "secret" not in address.shown + repr(Address("jdbc:postgresql://db/shop", "app", "secret"))


def test_names_of_parameters_are_translated():
    url = "jdbc:postgresql://db/shop?currentSchema=sales&connectTimeout=3"
    assert connection_uri(Address(url)) == "postgresql://db/shop?options=-csearch_path%3Dsales&connect_timeout=3"


def test_a_statement_must_fit_its_rows():
    row = Types.ROW([Types.INT(), Types.STRING()])
    with pytest.raises(InvalidProgramError, match="do not fit"):
        JdbcSink.sink("INSERT INTO t VALUES (?)", row, options())
    with pytest.raises(InvalidProgramError, match="takes rows"):
        JdbcSink.sink("INSERT INTO t VALUES (?)", Types.INT(), options())


def test_an_interval_means_nothing_to_an_exactly_once_sink():
    execution = JdbcExecutionOptions.builder().with_batch_interval_ms(100).build()
    with pytest.raises(ConfigurationError, match="by checkpoints"):
        JdbcSink.exactly_once_sink("INSERT INTO t VALUES (?)", Types.ROW([Types.INT()]), options(), execution)


@pytest.mark.parametrize("value", [-1, 1.5, True])
def test_sizes_are_whole_numbers(value):
    with pytest.raises(ConfigurationError, match="whole number"):
        JdbcExecutionOptions.builder().with_batch_size(value)
