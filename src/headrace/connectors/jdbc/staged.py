"""Rows are staged in the database itself and applied in one transaction when the checkpoint is complete: exactly once.

1. Task: the rows of an epoch go into the table `headrace_staged`, as parts of one *stage*, in one transaction.
2. Driver: one transaction runs the statement for all rows of the stage, deletes the stage, and writes its name into
   `headrace_committed`. So a stage is applied once, however often the commit is retried, and no transaction stays open
   between checkpoints: none can time out.
3. A stage that is neither staged nor in `headrace_committed` was aborted or removed: its commit is refused.

Names in `headrace_committed` are kept for the last `_REMEMBERED` checkpoints. The commit of an older stage is refused, not
repeated: its rows are gone from `headrace_staged`.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headrace.connectors.base.sink import Sink
from headrace.connectors.base.sink_committer import Handle, SinkCommitter, StagedOutputLostError
from headrace.connectors.base.sink_writer import EpochEnd, SinkWriter, WriterContext
from headrace.connectors.jdbc.database import Address, Database, open_database, statement_for
from headrace.connectors.jdbc.statement import row_maker
from headrace.state.safe_pickle import dump, load
from headrace.types.typeinfo import TypeInformation

STAGED, COMMITTED = "headrace_staged", "headrace_committed"
_REMEMBERED = 1000
_PART_BYTES = 4 << 20  # a server takes statements of a limited size: MariaDB's default is 16 MB


@dataclass(frozen=True)
class JdbcStagedSink(Sink):
    """Stages rows and applies them with the checkpoint."""

    sql: str
    kind: TypeInformation
    address: Address
    batch_size: int
    max_retries: int

    def open_writer(self, context: WriterContext, states: list[Any]) -> SinkWriter:
        return _Writer(self, context)

    def open_committer(self, job_id: str, sink_id: str) -> SinkCommitter:
        return _Committer(self, job_id, sink_id)


def create_tables(database: Database) -> None:
    """Create the two tables unless they exist."""
    database.create_table(
        STAGED,
        "stage varchar(32) NOT NULL, part integer NOT NULL, job varchar(32) NOT NULL, sink varchar(64) NOT NULL, "
        "handle varchar(200) NOT NULL, subtask integer NOT NULL, checkpoint bigint NOT NULL, "
        f"generation bigint NOT NULL, data {database.blob} NOT NULL, PRIMARY KEY (stage, part)",
    )
    database.create_table(
        COMMITTED,
        "job varchar(32) NOT NULL, sink varchar(64) NOT NULL, checkpoint bigint NOT NULL, stage varchar(32) NOT NULL, "
        "PRIMARY KEY (job, sink, checkpoint, stage)",
    )


class _Writer(SinkWriter):
    def __init__(self, sink: JdbcStagedSink, context: WriterContext) -> None:
        self._context, self._size, self._retries = context, sink.batch_size, sink.max_retries
        self._database = open_database(sink.address)
        self._database.retrying(lambda: create_tables(self._database), self._retries)
        self._rows_of = row_maker(sink.kind, self._database.adapt)
        self._rows: list[tuple[Any, ...]] = []
        marks = ", ".join([self._database.mark] * 9)
        self._insert = f"INSERT INTO {STAGED} VALUES ({marks})"  # noqa: S608 - no word of it comes from outside

    def write(self, values: list[Any], timestamps: list[int | None] | None) -> None:
        self._rows += self._rows_of(values)

    def end_epoch(self, end: EpochEnd) -> list[Any]:
        if not self._rows:
            return []
        payload = self._database.retrying(lambda: self._stage(end), self._retries)
        self._rows = []
        return [payload]

    def _stage(self, end: EpochEnd) -> dict[str, Any]:
        """Stage the rows under a new name: an attempt that the driver does not know of is dropped by its handle."""
        stage = uuid.uuid4().hex
        who = (self._context.job_id, self._context.sink_id, end.handle, self._context.subtask)
        slices = (self._rows[start : start + self._size] for start in range(0, len(self._rows), self._size))
        packed = (data for rows in slices for data in _packed_parts(rows))
        parts = [(stage, part, *who, end.checkpoint, end.generation, data) for part, data in enumerate(packed)]
        self._database.insert(self._insert, parts, self._insert)
        return {"stage": stage, "parts": len(parts), "rows": len(self._rows)}

    def close(self) -> None:
        self._database.close()


class _Committer(SinkCommitter):
    def __init__(self, sink: JdbcStagedSink, job_id: str, sink_id: str) -> None:
        self._job, self._sink = job_id, sink_id
        self._written = sink.sql
        self._database = open_database(sink.address)
        self._sql = statement_for(sink.sql, sink.address).with_marks(self._database.mark)
        self._has_tables = False

    def commit(self, handle: Handle) -> None:
        self._make_tables()
        self._database.transaction(lambda cursor: self._apply(cursor, handle))

    def _apply(self, cursor: Any, handle: Handle) -> None:
        stage, parts = handle.payload["stage"], handle.payload["parts"]
        there = self._lock(cursor, stage)
        if not there and self._is_committed(cursor, handle):
            return
        if len(there) != parts:
            raise StagedOutputLostError(
                "Rows that a checkpoint counts on are not staged any more",
                seen=f"{len(there)} of {parts} parts of stage {stage} in {STAGED}",
                remedy=f"bring the rows of {STAGED} back; headrace itself removes none that a checkpoint needs",
            )
        for part in there:
            self._ask(cursor, f"SELECT data FROM {STAGED} WHERE stage = ? AND part = ?", stage, part)  # noqa: S608
            self._database.run(cursor, self._sql, _unpacked(cursor.fetchone()[0]), self._written)
        self._ask(cursor, f"DELETE FROM {STAGED} WHERE stage = ?", stage)  # noqa: S608
        record = (self._job, self._sink, handle.checkpoint, stage)
        self._ask(cursor, f"INSERT INTO {COMMITTED} VALUES (?, ?, ?, ?)", *record)  # noqa: S608
        old = handle.checkpoint - _REMEMBERED
        self._ask(
            cursor,
            f"DELETE FROM {COMMITTED} WHERE job = ? AND sink = ? AND checkpoint < ?",  # noqa: S608
            self._job,
            self._sink,
            old,
        )

    def abort(self, handle: Handle) -> bool:
        def work(cursor: Any) -> bool:
            self._lock(cursor, handle.payload["stage"])
            if self._is_committed(cursor, handle):
                return False
            self._ask(cursor, f"DELETE FROM {STAGED} WHERE stage = ?", handle.payload["stage"])  # noqa: S608
            return True

        self._make_tables()
        return self._database.transaction(work)

    def staged(self) -> Sequence[Handle]:
        def work(cursor: Any) -> list[Handle]:
            self._ask(
                cursor,
                "SELECT handle, subtask, checkpoint, generation, stage, count(*) "  # noqa: S608
                f"FROM {STAGED} WHERE job = ? AND sink = ? "
                "GROUP BY handle, subtask, checkpoint, generation, stage",
                self._job,
                self._sink,
            )
            return [
                Handle(handle, subtask, checkpoint, generation, {"stage": stage, "parts": parts})
                for handle, subtask, checkpoint, generation, stage, parts in cursor.fetchall()
            ]

        self._make_tables()
        return self._database.transaction(work)

    def close(self) -> None:
        self._database.close()

    def _make_tables(self) -> None:
        if not self._has_tables:
            create_tables(self._database)
            self._has_tables = True

    def _lock(self, cursor: Any, stage: str) -> list[int]:
        """Return the parts of a stage, locked until this transaction ends."""
        self._ask(cursor, f"SELECT part FROM {STAGED} WHERE stage = ? ORDER BY part {self._database.locking}", stage)  # noqa: S608
        return [part for (part,) in cursor.fetchall()]

    def _is_committed(self, cursor: Any, handle: Handle) -> bool:
        self._ask(
            cursor,
            f"SELECT 1 FROM {COMMITTED} WHERE job = ? AND sink = ? AND checkpoint = ? AND stage = ?",  # noqa: S608
            self._job,
            self._sink,
            handle.checkpoint,
            handle.payload["stage"],
        )
        return cursor.fetchone() is not None

    def _ask(self, cursor: Any, sql: str, *parameters: Any) -> None:
        cursor.execute(sql.replace("?", self._database.mark), parameters)


def _packed_parts(rows: list[tuple[Any, ...]]) -> list[bytes]:
    """Pack rows into one part, or into several if they are large."""
    data = _packed(rows)
    if len(data) <= _PART_BYTES or len(rows) == 1:
        return [data]
    half = len(rows) // 2
    return _packed_parts(rows[:half]) + _packed_parts(rows[half:])


def _packed(rows: list[tuple[Any, ...]]) -> bytes:
    """Pack rows of adapted values, for `_unpacked`."""
    codec, data = dump(rows)
    return codec.encode("ascii") + data


def _unpacked(data: bytes) -> list[tuple[Any, ...]]:
    """Read rows; only plain values are loaded, even if someone else wrote into the table."""
    data = bytes(data)
    return load(data[:1].decode("ascii"), data[1:])  # type: ignore[no-any-return]
