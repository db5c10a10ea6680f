"""JdbcSink: rows into PostgreSQL, MySQL, MariaDB or SQLite; the names are those of `pyflink.datastream.connectors.jdbc`.

Decides the options, and how rows are written at least once; `staged` writes exactly once. There is no JVM: URLs are JDBC's,
drivers are Python's.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from headrace.compatibility.ignored_settings import warn_of_url_parameters
from headrace.connectors.base.sink import Sink
from headrace.connectors.base.sink_writer import EpochEnd, SinkWriter, WriterContext
from headrace.connectors.jdbc.database import Address, database_kind, open_database, statement_for
from headrace.connectors.jdbc.mysql import connection_arguments, unused_parameters
from headrace.connectors.jdbc.staged import JdbcStagedSink
from headrace.connectors.jdbc.statement import check_fields, row_maker
from headrace.errors import ConfigurationError, TypeMismatchError
from headrace.functions.sink_function import SinkFunction
from headrace.types.typeinfo import TypeInformation

__all__ = ["JdbcConnectionOptions", "JdbcExecutionOptions", "JdbcSink"]


class JdbcSink(SinkFunction):
    """Runs a statement for each element of a stream of rows, in batches; for `add_sink`.

    >>> import sqlite3, tempfile
    >>> from headrace.common import Configuration, Row, Types
    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment(
    ...     Configuration.from_dict({"headrace.executor": "local"})
    ... )
    >>> kind = Types.ROW([Types.INT(), Types.STRING()])
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     connection = sqlite3.connect(directory + "/db")
    ...     created = connection.execute("CREATE TABLE orders (id INTEGER, item TEXT)")
    ...     options = (
    ...         JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(f"jdbc:sqlite:{directory}/db").build()
    ...     )
    ...     sink = JdbcSink.exactly_once_sink("INSERT INTO orders VALUES (?, ?)", kind, options)
    ...     end = env.from_collection([Row(1, "tea"), Row(2, "rice")], kind).add_sink(sink)
    ...     result = env.execute()
    ...     connection.execute("SELECT * FROM orders ORDER BY id").fetchall()
    [(1, 'tea'), (2, 'rice')]
    """

    def __init__(self, definition: Sink) -> None:
        """Programs call `sink` or `exactly_once_sink`."""
        self._definition = definition

    @staticmethod
    def sink(
        sql: str,
        type_info: TypeInformation,
        jdbc_connection_options: JdbcConnectionOptions,
        jdbc_execution_options: JdbcExecutionOptions | None = None,
    ) -> JdbcSink:
        """Return a sink that writes at least once: after a failure rows are written again.

        If the statement is an upsert, the result is as if each row had been written once.
        """
        options = _checked(sql, type_info, jdbc_connection_options, jdbc_execution_options)
        return JdbcSink(
            JdbcDirectSink(
                sql,
                type_info,
                jdbc_connection_options.address,
                options.get_batch_size(),
                options.get_batch_interval_ms(),
                options.get_max_retries(),
            )
        )

    @staticmethod
    def exactly_once_sink(
        sql: str,
        type_info: TypeInformation,
        jdbc_connection_options: JdbcConnectionOptions,
        jdbc_execution_options: JdbcExecutionOptions | None = None,
    ) -> JdbcSink:
        """Return a sink that writes exactly once: rows are applied when the checkpoint that they belong to is complete.

        Until then they wait in the table ``headrace_staged``, which is created if it does not exist, like
        ``headrace_committed``. PyFlink has no such method; Java's needs XA transactions, this one does not.
        """
        options = _checked(sql, type_info, jdbc_connection_options, jdbc_execution_options)
        if options.get_batch_interval_ms():
            raise ConfigurationError(
                "Rows of an exactly-once sink are applied by checkpoints, not by a batch interval",
                seen=options.get_batch_interval_ms(),
                remedy="leave with_batch_interval_ms() out, and set the interval of checkpoints",
            )
        size = options.get_batch_size() if options.get_batch_size() > 0 else _BATCH_SIZE
        address = jdbc_connection_options.address
        return JdbcSink(JdbcStagedSink(sql, type_info, address, size, options.get_max_retries()))

    def invoke(self, value: Any, context: SinkFunction.Context) -> None:
        """Refuse: the engine hands over whole runs of elements instead."""
        raise TypeMismatchError("A JdbcSink must be passed to add_sink() itself", seen=value)

    def get_definition(self) -> Sink:
        """Return the definition that the runtime writes with."""
        return self._definition


class JdbcConnectionOptions:
    """Where the database is.

    >>> builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder()
    >>> options = builder.with_url("jdbc:postgresql://localhost:5432/shop").with_user_name("app").build()
    >>> options.get_db_url(), options.get_user_name()
    ('jdbc:postgresql://localhost:5432/shop', 'app')
    """

    def __init__(self, address: Address, driver_name: str | None) -> None:
        """Programs call the builder."""
        self.address = address
        self._driver_name = driver_name

    def get_db_url(self) -> str:
        """Return the URL."""
        return self.address.url

    def get_driver_name(self) -> str | None:
        """Return the name of JDBC's driver, if one was named."""
        return self._driver_name

    def get_user_name(self) -> str | None:
        """Return the user."""
        return self.address.user

    def get_password(self) -> str | None:
        """Return the password."""
        return self.address.password

    class JdbcConnectionOptionsBuilder:
        """Collects the parts."""

        def __init__(self) -> None:
            self._url: str | None = None
            self._driver_name: str | None = None
            self._user_name: str | None = None
            self._password: str | None = None

        def with_url(self, url: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the URL: ``jdbc:postgresql://host:port/database``, the same with ``mysql`` or ``mariadb``, or
            ``jdbc:sqlite:/path``.
            """
            self._url = url
            return self

        def with_driver_name(self, driver_name: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Name JDBC's driver. It is not used, but it must be the one for the URL."""
            self._driver_name = driver_name
            return self

        def with_user_name(self, user_name: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the user."""
            self._user_name = user_name
            return self

        def with_password(self, password: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the password."""
            self._password = password
            return self

        def build(self) -> JdbcConnectionOptions:
            """Return the options."""
            if not self._url:
                raise ConfigurationError("No URL of a database was given", remedy="call with_url()")
            address = Address(self._url, self._user_name, self._password)
            if database_kind(address, self._driver_name) in ("mysql", "mariadb"):
                connection_arguments(address)
                if unused := unused_parameters(address):
                    warn_of_url_parameters(unused)
            return JdbcConnectionOptions(address, self._driver_name)


_BATCH_SIZE, _BATCH_INTERVAL_MS, _MAX_RETRIES = 5000, 0, 3


class JdbcExecutionOptions:
    """How rows are batched, and how often a failed batch is retried.

    >>> options = JdbcExecutionOptions.builder().with_batch_size(200).build()
    >>> options.get_batch_size(), options.get_batch_interval_ms(), options.get_max_retries()
    (200, 0, 3)
    """

    def __init__(self, batch_interval_ms: int, batch_size: int, max_retries: int) -> None:
        """Programs call the builder."""
        self._batch_interval_ms, self._batch_size, self._max_retries = batch_interval_ms, batch_size, max_retries

    def get_batch_interval_ms(self) -> int:
        """Return after how many milliseconds a batch is sent that is not full; 0: at the end of the epoch."""
        return self._batch_interval_ms

    def get_batch_size(self) -> int:
        """Return the rows of a full batch; 0: no batch is ever full."""
        return self._batch_size

    def get_max_retries(self) -> int:
        """Return how often a batch is sent again when the database cannot be reached."""
        return self._max_retries

    @staticmethod
    def defaults() -> JdbcExecutionOptions:
        """Return batches of 5000 rows, no interval, 3 retries."""
        return JdbcExecutionOptions.builder().build()

    @staticmethod
    def builder() -> JdbcExecutionOptions.Builder:
        """Return a builder."""
        return JdbcExecutionOptions.Builder()

    class Builder:
        """Collects the parts."""

        def __init__(self) -> None:
            self._interval_ms, self._size, self._max_retries = _BATCH_INTERVAL_MS, _BATCH_SIZE, _MAX_RETRIES

        def with_batch_size(self, size: int) -> JdbcExecutionOptions.Builder:
            """Set the rows of a full batch; 0: no batch is ever full."""
            self._size = _whole(size, "with_batch_size")
            return self

        def with_batch_interval_ms(self, interval_ms: int) -> JdbcExecutionOptions.Builder:
            """Set after how many milliseconds a batch is sent that is not full; 0: at the end of the epoch."""
            self._interval_ms = _whole(interval_ms, "with_batch_interval_ms")
            return self

        def with_max_retries(self, max_retries: int) -> JdbcExecutionOptions.Builder:
            """Set how often a batch is sent again when the database cannot be reached."""
            self._max_retries = _whole(max_retries, "with_max_retries")
            return self

        def build(self) -> JdbcExecutionOptions:
            """Return the options."""
            return JdbcExecutionOptions(self._interval_ms, self._size, self._max_retries)


def _whole(value: int, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ConfigurationError(f"{name}() takes a whole number from 0", seen=value)
    return value


def _checked(
    sql: str, type_info: TypeInformation, connection: JdbcConnectionOptions, execution: JdbcExecutionOptions | None
) -> JdbcExecutionOptions:
    if not isinstance(connection, JdbcConnectionOptions):
        raise TypeMismatchError("A JDBC sink needs JdbcConnectionOptions", seen=connection)
    if execution is not None and not isinstance(execution, JdbcExecutionOptions):
        raise TypeMismatchError("A JDBC sink needs JdbcExecutionOptions", seen=execution)
    check_fields(statement_for(sql, connection.address), type_info)
    return execution or JdbcExecutionOptions.defaults()


@dataclass(frozen=True)
class JdbcDirectSink(Sink):
    """Writes rows as they arrive, in batches: at least once; with an upsert statement, exactly once."""

    sql: str
    kind: TypeInformation
    address: Address
    batch_size: int
    batch_interval_ms: int
    max_retries: int

    def open_writer(self, context: WriterContext, states: list[Any]) -> SinkWriter:
        return _DirectWriter(self)


class _DirectWriter(SinkWriter):
    def __init__(self, sink: JdbcDirectSink) -> None:
        self._sink = sink
        self._database = open_database(sink.address)
        self._sql = statement_for(sink.sql, sink.address).with_marks(self._database.mark)
        self._rows_of = row_maker(sink.kind, self._database.adapt)
        self._rows: list[tuple[Any, ...]] = []
        self._flushed = time.monotonic()

    def write(self, values: list[Any], timestamps: list[int | None] | None) -> None:
        self._rows += self._rows_of(values)
        interval, size = self._sink.batch_interval_ms, self._sink.batch_size
        if 0 < size <= len(self._rows):
            self._flush(len(self._rows) // size * size)
        elif 0 < interval <= (time.monotonic() - self._flushed) * 1000:
            self._flush(len(self._rows))

    def end_epoch(self, end: EpochEnd) -> list[Any]:
        self._flush(len(self._rows))
        return []

    def _flush(self, count: int) -> None:
        size = self._sink.batch_size if self._sink.batch_size > 0 else max(1, count)
        for start in range(0, count, size):
            self._send(self._rows[start : min(start + size, count)])
        del self._rows[:count]
        self._flushed = time.monotonic()

    def _send(self, rows: list[tuple[Any, ...]]) -> None:
        sink = self._sink
        self._database.retrying(lambda: self._database.insert(self._sql, rows, sink.sql), sink.max_retries)

    def close(self) -> None:
        self._database.close()
