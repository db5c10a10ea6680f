"""Rows go to the database as they come, in batches: at least once. With an upsert statement that is exactly once."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from headrace.connectors.base.sink import Sink
from headrace.connectors.base.sink_writer import EpochEnd, SinkWriter, WriterContext
from headrace.connectors.jdbc.database import Address, open_database, statement_for
from headrace.connectors.jdbc.rows import row_maker
from headrace.types.typeinfo import TypeInformation


@dataclass(frozen=True)
class JdbcDirectSink(Sink):
    """The definition."""

    sql: str
    kind: TypeInformation
    address: Address
    batch_size: int
    batch_interval_ms: int
    max_retries: int

    def open_writer(self, context: WriterContext, states: list[Any]) -> SinkWriter:
        return _Writer(self)


class _Writer(SinkWriter):
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
