"""The same job into every kind of sink, and how to read back what has arrived.

A *place* is an outer system: `attach(stream)` ends a stream of numbers there, `arrived()` gives what can be seen, and
`leftovers()` what is staged and will never be seen.
"""

from __future__ import annotations

import json
import os
import sqlite3
import uuid
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

from headrace.common import Configuration, Row, Types, WatermarkStrategy
from headrace.datastream import MapFunction, StreamExecutionEnvironment
from headrace.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink
from headrace.datastream.connectors.number_seq import NumberSequenceSource
from headrace.datastream.connectors.sink2 import (
    Committer,
    CommittingSinkWriter,
    Sink,
    StatefulSinkWriter,
    SupportsCommitter,
    SupportsWriterState,
)
from headrace.datastream.functions import CheckpointCommitter, GenericWriteAheadSink, TwoPhaseCommitSinkFunction

ROW = Types.ROW([Types.LONG(), Types.STRING()])


def environment(directory, parallelism=2, **settings):
    """On the local executor, with a checkpoint at every epoch's end, and an epoch every 50 records of a source."""
    configuration = {
        "headrace.executor": "local",
        "execution.checkpointing.interval": "1 ms",
        "execution.checkpointing.dir": f"{directory}/checkpoints",
        "headrace.epoch.max-records": "50",
        "headrace.epoch.first-records": "50",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "5",
        "restart-strategy.fixed-delay.delay": "10 ms",
        **settings,
    }
    env = StreamExecutionEnvironment.get_execution_environment(
        Configuration.from_dict({k: v for k, v in configuration.items() if v is not None})
    )
    env.set_parallelism(parallelism)
    return env


def numbers(env, last):
    """1 to last."""
    return env.from_source(NumberSequenceSource(1, last), WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")


class Trouble:
    """What tests ask an outer system to do: raise before or after its next commits. It lives in a folder."""

    def __init__(self, directory):
        self.directory = f"{directory}/trouble"
        os.makedirs(self.directory, exist_ok=True)

    def ask(self, what, times):
        for number in range(times):
            Path(self.directory, f"{what}-{number}").touch()

    def meet(self, what):
        for name in sorted(os.listdir(self.directory)):
            if name.startswith(what + "-"):
                os.unlink(f"{self.directory}/{name}")
                raise ConnectionError(f"the outer system is away ({name})")

    @property
    def left(self):
        return os.listdir(self.directory)


class FailsOnce(MapFunction):
    """Raises at one value, the first time that it sees it."""

    def __init__(self, directory, value):
        self.mark, self.value = f"{directory}/armed", value
        Path(self.mark).touch()

    def map(self, value):
        if value == self.value and os.path.exists(self.mark):
            os.unlink(self.mark)
            raise ValueError(f"{value} is not to my liking")
        return value


# ---------------------------------------------------------------- two-phase commit, into files


class FileTransaction:
    """A transaction that is no JSON data."""

    def __init__(self, name):
        self.name = name


class FilesFunction(TwoPhaseCommitSinkFunction):
    """A transaction is a file; its commit is a renaming."""

    def __init__(self, directory):
        self.directory, self.trouble = directory, Trouble(directory)

    def open(self, runtime_context):
        self.subtask = runtime_context.get_index_of_this_subtask()
        self.opened = True

    def begin_transaction(self):
        assert self.opened
        transaction = FileTransaction(f"{self.subtask}-{uuid.uuid4().hex}")
        self.file = open(f"{self.directory}/staged/{transaction.name}", "w")
        return transaction

    def invoke(self, transaction, value, context):
        assert transaction is self.current_transaction()
        print(value, file=self.file)

    def pre_commit(self, transaction):
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()

    def commit(self, transaction):
        assert self.subtask == -1, "the driver commits"
        self.trouble.meet("refuse")
        self._rename(transaction)
        self.trouble.meet("ambiguous")

    def recover_and_commit(self, transaction):
        self.trouble.meet("refuse")
        if not os.path.exists(f"{self.directory}/visible/{transaction.name}"):
            self._rename(transaction)

    def _rename(self, transaction):
        os.rename(f"{self.directory}/staged/{transaction.name}", f"{self.directory}/visible/{transaction.name}")

    def abort(self, transaction):
        Path(self.directory, "staged", transaction.name).unlink(missing_ok=True)


class Files:
    def __init__(self, directory):
        self.directory = str(directory)
        for name in ("staged", "visible"):
            os.makedirs(f"{directory}/{name}", exist_ok=True)

    def attach(self, stream):
        stream.add_sink(FilesFunction(self.directory)).uid("sink")

    def arrived(self):
        files = Path(self.directory, "visible").iterdir()
        return Counter(int(line) for file in files for line in file.read_text().splitlines())

    def leftovers(self):
        return os.listdir(f"{self.directory}/staged")


# ---------------------------------------------------------------- write-ahead, into a database that knows no headrace


class Book(CheckpointCommitter):
    """Remembers the last number of each subtask."""

    def __init__(self, path):
        self.path = path

    def create_resource(self):
        with sqlite3.connect(self.path) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS book (who TEXT, subtask INTEGER, number INTEGER)")

    def open(self):
        self.who = f"{self.job_id}/{self.operator_id}"
        self.connection = sqlite3.connect(self.path)

    def is_checkpoint_committed(self, subtask_idx, checkpoint_id):
        found = self.connection.execute(
            "SELECT max(number) FROM book WHERE who = ? AND subtask = ?", (self.who, subtask_idx)
        )
        return checkpoint_id <= (found.fetchone()[0] or 0)

    def commit_checkpoint(self, subtask_idx, checkpoint_id):
        with self.connection:
            self.connection.execute("INSERT INTO book VALUES (?, ?, ?)", (self.who, subtask_idx, checkpoint_id))

    def close(self):
        self.connection.close()


class LogFunction(GenericWriteAheadSink):
    """Values go in under the log's number: to send them twice is to send them once."""

    def __init__(self, directory):
        super().__init__(Book(f"{directory}/outer.db"))
        self.path, self.trouble = f"{directory}/outer.db", Trouble(directory)

    def send_values(self, values, checkpoint_id, timestamp):
        try:
            self.trouble.meet("refuse")
        except ConnectionError:
            return False
        with sqlite3.connect(self.path) as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO received VALUES (?, ?, ?)",
                [(checkpoint_id, place, value) for place, value in enumerate(values)],
            )
        self.trouble.meet("ambiguous")
        return True


class Logs:
    def __init__(self, directory):
        self.directory, self.path = str(directory), f"{directory}/outer.db"
        with sqlite3.connect(self.path) as connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS received (number INTEGER, place INTEGER, value INTEGER, "
                "PRIMARY KEY (number, place, value))"
            )

    def attach(self, stream):
        stream.add_sink(LogFunction(self.directory)).uid("sink")

    def arrived(self):
        with sqlite3.connect(self.path) as connection:
            return Counter(value for (value,) in connection.execute("SELECT value FROM received"))

    def leftovers(self):
        return []


# ---------------------------------------------------------------- writers and committers, with state


class PartsSink(Sink, SupportsCommitter, SupportsWriterState):
    """Each epoch of each subtask is a JSON file; writers count their files in their state."""

    def __init__(self, directory):
        self.directory = directory

    def create_writer(self, context):
        return PartsWriter(self.directory, context.get_subtask_id(), 0)

    def restore_writer(self, context, recovered_state):
        assert context.get_restored_checkpoint_id() is not None
        return PartsWriter(self.directory, context.get_subtask_id(), sum(recovered_state))

    def create_committer(self, context):
        return PartsCommitter(self.directory)


class PartsWriter(CommittingSinkWriter, StatefulSinkWriter):
    def __init__(self, directory, subtask, count):
        self.directory, self.subtask, self.count = directory, subtask, count
        self.waiting, self.flushed = [], []

    def write(self, element, context):
        assert context.timestamp() is None
        self.waiting.append(element)

    def flush(self, end_of_input):
        self.flushed, self.waiting = self.flushed + self.waiting, []

    def prepare_commit(self):
        if not self.flushed:
            return []
        self.count += 1
        name = f"{self.subtask}-{self.count}-{uuid.uuid4().hex}"
        Path(self.directory, "staged", name).write_text(json.dumps(self.flushed))
        self.flushed = []
        return [(name, self.count)]  # a tuple: not JSON data

    def snapshot_state(self, checkpoint_id):
        return [self.count]


class PartsCommitter(Committer):
    def __init__(self, directory):
        self.directory, self.trouble = directory, Trouble(directory)

    def commit(self, requests):
        for request in requests:
            name, _ = request.get_committable()
            try:
                self.trouble.meet("refuse")
            except ConnectionError:
                request.retry_later()
                continue
            if os.path.exists(f"{self.directory}/visible/{name}"):
                request.signal_already_committed()
            else:
                os.rename(f"{self.directory}/staged/{name}", f"{self.directory}/visible/{name}")
        self.trouble.meet("ambiguous")


class Parts(Files):
    def attach(self, stream):
        stream.sink_to(PartsSink(self.directory)).uid("sink")

    def arrived(self):
        files = Path(self.directory, "visible").iterdir()
        return Counter(value for file in files for value in json.loads(file.read_text()))

    def leftovers(self):
        """Writers and committers have no abort: files of an epoch that was run again stay, as they do with Flink."""
        return []


# ---------------------------------------------------------------- databases


def as_row(value):
    return Row(value, f"number {value}")


class Rows:
    """A table `numbers` of a database, by JDBC's URL."""

    def __init__(self, url, connect, sql="INSERT INTO numbers VALUES (?, ?)", exactly_once=True):
        self.url, self._connect, self.sql, self.exactly_once = url, connect, sql, exactly_once

    def ask(self, sql):
        connection = self._connect()
        try:
            found = connection.execute(sql)
            rows = found.fetchall() if found.description is not None else []
            connection.commit()
            return rows
        finally:
            connection.close()

    def options(self):
        return JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(self.url).build()

    def sink(self, batch_size=7):
        execution = JdbcExecutionOptions.builder().with_batch_size(batch_size).build()
        make = JdbcSink.exactly_once_sink if self.exactly_once else JdbcSink.sink
        return make(self.sql, ROW, self.options(), execution)

    def attach(self, stream):
        stream.map(as_row, ROW).add_sink(self.sink()).uid("sink")

    def arrived(self):
        rows = self.ask("SELECT id, name FROM numbers")
        assert all(name == f"number {value}" for value, name in rows)
        return Counter(value for value, _ in rows)

    def leftovers(self):
        return self.ask("SELECT stage FROM headrace_staged")


class SqliteRows(Rows):
    def __init__(self, directory, **more):
        path = f"{directory}/outer.db"
        super().__init__(f"jdbc:sqlite:{path}", lambda: sqlite3.connect(path, timeout=60), **more)
        self.ask("CREATE TABLE IF NOT EXISTS numbers (id INTEGER, name TEXT)")


class PostgresRows(Rows):
    def __init__(self, url, **more):
        import psycopg

        super().__init__(url, lambda: psycopg.connect(url.removeprefix("jdbc:")), **more)
        self.ask("CREATE TABLE IF NOT EXISTS numbers (id bigint, name text)")


class MariaRows(Rows):
    def __init__(self, url, **more):
        super().__init__(url, None, **more)
        self.ask("CREATE TABLE IF NOT EXISTS numbers (id bigint, name text)")

    def ask(self, sql):
        """By the driver alone: what the sink makes of URLs and sessions is not asked."""
        import pymysql

        parts = urlsplit(self.url.removeprefix("jdbc:"))
        connection = pymysql.connect(
            user="root", unix_socket=parts.query.removeprefix("localSocket="), database=parts.path[1:], autocommit=True
        )
        try:
            with connection.cursor() as cursor:
                cursor.execute(sql)
                return list(cursor.fetchall())
        finally:
            connection.close()


def place(kind, directory, url=None):
    """The place of this kind, in a folder (or in the database at `url`)."""
    if kind in SERVERS:
        return SERVERS[kind](url)
    return {"two-phase": Files, "write-ahead": Logs, "writers": Parts, "sqlite": SqliteRows}[kind](directory)


SERVERS = {"postgres": PostgresRows, "mariadb": MariaRows}
KINDS = ("two-phase", "write-ahead", "writers", "sqlite", *SERVERS)
