"""Recorded jobs: sinks that commit, each with output that waits. All paths are relative to the working directory."""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections import Counter
from pathlib import Path

from recorded_values import numbers

from headrace.common import Row, Types
from headrace.common.serialization import Encoder
from headrace.datastream.connectors.file_system import (
    BucketAssigner,
    FileSink,
    OutputFileConfig,
    RollingPolicy,
)
from headrace.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink
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


class Transaction:
    """A transaction that is no JSON data."""

    def __init__(self, name):
        self.name = name


class Renaming(TwoPhaseCommitSinkFunction):
    """A transaction is a file; its commit is a renaming."""

    def begin_transaction(self):
        return Transaction(uuid.uuid4().hex)

    def initialize_user_context(self):
        return Transaction("context")

    def invoke(self, transaction, value, context):
        with open(f"two-phase/.{transaction.name}", "a") as file:
            print(value, file=file)

    def pre_commit(self, transaction):
        Path(f"two-phase/.{transaction.name}").touch()

    def commit(self, transaction):
        if Path(f"two-phase/.{transaction.name}").exists():
            Path(f"two-phase/.{transaction.name}").rename(f"two-phase/{transaction.name}")

    def abort(self, transaction):
        Path(f"two-phase/.{transaction.name}").unlink(missing_ok=True)


class Book(CheckpointCommitter):
    """Remembers the last number of each subtask in a file."""

    def _sent(self):
        return json.loads(Path("ahead/sent").read_text()) if Path("ahead/sent").exists() else {}

    def is_checkpoint_committed(self, subtask_idx, checkpoint_id):
        return checkpoint_id <= self._sent().get(str(subtask_idx), 0)

    def commit_checkpoint(self, subtask_idx, checkpoint_id):
        Path("ahead/sent").write_text(json.dumps({**self._sent(), str(subtask_idx): checkpoint_id}))


class Sending(GenericWriteAheadSink):
    """Sends under a name of the log's own: twice is the same as once."""

    def __init__(self):
        super().__init__(Book())

    def send_values(self, values, checkpoint_id, timestamp):
        text = "".join(f"{transaction.name}\n" for transaction in values)
        Path(f"ahead/log-{checkpoint_id}-{values[0].name}").write_text(text)
        return True


class Parts(Sink, SupportsCommitter, SupportsWriterState):
    """Each epoch is a file; writers count their files in their state."""

    def create_writer(self, context):
        return PartsWriter(0)

    def restore_writer(self, context, recovered_state):
        return PartsWriter(sum(counted.name for counted in recovered_state))

    def create_committer(self, context):
        return PartsCommitter()


class PartsWriter(CommittingSinkWriter, StatefulSinkWriter):
    def __init__(self, count):
        self.count, self.waiting = count, []

    def write(self, element, context):
        self.waiting.append(element)

    def flush(self, end_of_input):
        pass

    def prepare_commit(self):
        if not self.waiting:
            return []
        self.count += 1
        staged = Transaction(f"{self.count}-{uuid.uuid4().hex}")
        Path(f"parts/.{staged.name}").write_text("".join(f"{value}\n" for value in self.waiting))
        self.waiting = []
        return [staged]

    def snapshot_state(self, checkpoint_id):
        return [Transaction(self.count)]


class PartsCommitter(Committer):
    def commit(self, requests):
        for request in requests:
            name = request.get_committable().name
            if Path(f"parts/{name}").exists():
                request.signal_already_committed()
            else:
                Path(f"parts/.{name}").rename(f"parts/{name}")


class Parity(BucketAssigner):
    def get_bucket_id(self, element, processing_time):
        return "odd" if int(element) % 2 else "even"


def sinks(env):
    """Attach all of them; gives nothing to collect."""
    for folder in ("two-phase", "ahead", "parts"):
        Path(folder).mkdir(exist_ok=True)
    with sqlite3.connect("rows.db") as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS numbers (number INTEGER, text TEXT)")
    stream = numbers(env)
    stream.add_sink(Renaming()).uid("two-phase")
    stream.map(Transaction).uid("objects").add_sink(Sending()).uid("ahead").set_parallelism(1)
    stream.sink_to(Parts()).uid("parts")
    texts = stream.map(str, Types.STRING()).uid("texts")
    encoder = Encoder.simple_string_encoder()
    long = RollingPolicy.default_rolling_policy(part_size=60, rollover_interval=10**9, inactivity_interval=10**9)
    rolling = FileSink.for_row_format("rolling", encoder).with_rolling_policy(long).with_bucket_assigner(Parity())
    texts.sink_to(rolling.build()).uid("rolling")
    each = FileSink.for_row_format("each", encoder).with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    each = each.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
    each = each.with_output_file_config(OutputFileConfig.builder().with_part_suffix(".txt").build())
    texts.sink_to(each.build()).uid("each")
    jdbc = JdbcSink.exactly_once_sink(
        "INSERT INTO numbers VALUES (?, ?)",
        ROW,
        JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url("jdbc:sqlite:rows.db").build(),
        JdbcExecutionOptions.builder().with_batch_size(10).build(),
    )
    stream.map(lambda v: Row(v, f"number {v}"), ROW).uid("rows").add_sink(jdbc).uid("jdbc")


def arrived():
    """What each sink shows, in numbers."""
    with sqlite3.connect("rows.db") as connection:
        rows = Counter(number for (number,) in connection.execute("SELECT number FROM numbers"))
    return {"jdbc": rows} | {
        name: Counter(
            int(line)
            for file in Path(name).rglob("*")
            if file.is_file() and not file.name.startswith(".") and file.name != "sent"
            for line in file.read_text().splitlines()
        )
        for name in ("two-phase", "ahead", "parts", "rolling", "each")
    }
