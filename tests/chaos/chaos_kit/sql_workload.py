"""The SQL job that is killed: seven pipelines over the sources of the other job, exactly-once into files.

W, S. windows that drop late rows. G. group aggregation, each of its changes. J. interval join. R. regular join with a side
that changes. T. top 3 of each key. D. the first row of each key. P. MATCH_RECOGNIZE. M. from a table to a stream of changes,
through a function in Python, and back to a table. All lines name the kind of their change. F. an INSERT INTO files.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

from chaos_kit.file_sink import FolderSink
from chaos_kit.records import DISORDER
from headrace.common import Duration, Row, Types, WatermarkStrategy
from headrace.connectors.base.source import Source
from headrace.datastream import DataStream, StreamExecutionEnvironment
from headrace.table import Schema, StreamTableEnvironment

MINI_BATCH = {
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "50 ms",
    "table.exec.mini-batch.size": "7",
}
_KIND = Types.ROW_NAMED(
    ["id", "k", "seq", "late", "v"], [Types.STRING(), Types.INT(), Types.LONG(), Types.BOOLEAN(), Types.LONG()]
)
QUERIES = {
    "W": """SELECT k, window_start, window_end, COUNT(*), SUM(seq), COUNT(DISTINCT v)
        FROM TABLE(HOP(TABLE s1, DESCRIPTOR(ts), INTERVAL '0.1' SECOND, INTERVAL '0.2' SECOND))
        GROUP BY k, window_start, window_end""",
    "S": """SELECT k, window_start, window_end, COUNT(*), SUM(seq)
        FROM TABLE(SESSION(TABLE s1 PARTITION BY k, DESCRIPTOR(ts), INTERVAL '0.035' SECOND))
        GROUP BY k, window_start, window_end""",
    "G": "SELECT k, COUNT(*), SUM(v), MAX(v), COUNT(DISTINCT v) FROM s0 GROUP BY k",
    "J": """SELECT a.k, a.id, b.id FROM s1 a, s2 b WHERE a.k = b.k AND NOT a.late AND NOT b.late
        AND b.ts BETWEEN a.ts - INTERVAL '0.05' SECOND AND a.ts + INTERVAL '0.05' SECOND""",
    "R": """SELECT a.id, g.n, g.total FROM s1 a LEFT JOIN
        (SELECT k, v, COUNT(*) AS n, SUM(seq) AS total FROM s2 GROUP BY k, v) g ON a.k = g.k AND a.v = g.v""",
    "T": """SELECT k, seq, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, seq DESC) AS n FROM s0)
        WHERE n <= 3""",
    "D": """SELECT k, v, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k, v ORDER BY ts ASC) AS n
        FROM s1 WHERE NOT late) WHERE n = 1""",
    "P": """SELECT k, x_id, y_id FROM (SELECT * FROM s1 WHERE NOT late) MATCH_RECOGNIZE (
        PARTITION BY k ORDER BY ts MEASURES X.id AS x_id, Y.id AS y_id
        AFTER MATCH SKIP PAST LAST ROW PATTERN (X Y) WITHIN INTERVAL '0.3' SECOND
        DEFINE X AS X.v IN (0, 1, 2), Y AS Y.v IN (2, 3, 4))""",
    "M": "SELECT v, COUNT(*), SUM(total) FROM doubled GROUP BY v",
}
"""Lines of each begin with its letter."""


def _row(value: Any) -> Row:
    return Row(f"{value[0]}.{value[1]}.{value[2]}", value[3], value[4], value[6], value[8] % 5)


def _twice(row: Any) -> Row:
    """Return the same change of a row with twice its total."""
    return Row.of_kind(row.get_row_kind(), row[0], row[1], 2 * row[2])


class _Line:
    def __init__(self, letter: str) -> None:
        self.letter = letter

    def __call__(self, row: Any) -> str:
        kind = ("+I", "-U", "+U", "-D")[row.get_row_kind().value]
        return "|".join([self.letter, kind, *map(_text, row)])


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        return str(round(value.replace(tzinfo=timezone.utc).timestamp() * 1000))
    return "null" if value is None else str(value)


def build(env: StreamExecutionEnvironment, p: dict[str, Any], source: Callable[[int], Source]) -> None:
    """Add all pipelines. `source` makes one of the three sources."""
    t_env = StreamTableEnvironment.create(env)
    t_env.get_config().set_local_timezone("UTC")
    for key, value in {**(MINI_BATCH if p.get("mini_batch") else {}), **p.get("table_settings", {})}.items():
        t_env.get_config().set(key, value)
    root = p["root"]
    out = FolderSink(os.path.join(root, "out"), p.get("sink_harm", ""))
    for number, parallelism in enumerate((2, 1, 1)):
        _view(t_env, _stream(env, source(number), number, parallelism), number)
    query = "SELECT k, v, SUM(seq) AS total FROM s0 GROUP BY k, v"
    kind = Types.ROW_NAMED(["k", "v", "total"], [Types.INT(), Types.LONG(), Types.LONG()])
    totals = t_env.to_changelog_stream(t_env.sql_query(query)).map(_twice, kind).uid("twice")
    t_env.create_temporary_view("doubled", t_env.from_changelog_stream(totals))
    for letter, text in QUERIES.items():
        changes = t_env.to_changelog_stream(t_env.sql_query(text))
        lines = changes.map(_Line(letter), Types.STRING()).uid(f"lines-{letter}")
        lines.sink_to(out).uid(f"sink-{letter}")
    t_env.execute_sql(
        f"CREATE TABLE files (k INT, id STRING, seq BIGINT) WITH ('connector' = 'filesystem', 'format' = 'json', "
        f"'path' = '{os.path.join(root, 'rows')}')"
    )
    statements = t_env.create_statement_set()
    statements.add_insert_sql("INSERT INTO files SELECT k, id, seq FROM s0 WHERE seq > 1")
    statements.attach_as_datastream()


def _stream(env: StreamExecutionEnvironment, source: Source, number: int, parallelism: int) -> DataStream:
    strategy = WatermarkStrategy.no_watermarks()
    if number == 2:
        strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(DISORDER))
    stream = env.from_source(source, strategy, f"s{number}")
    stream = stream.set_parallelism(parallelism).uid(f"s{number}")
    return stream.map(_row, _KIND).uid(f"rows-{number}").set_parallelism(parallelism)


def _view(t_env: StreamTableEnvironment, stream: DataStream, number: int) -> None:
    schema = Schema.new_builder().from_fields(
        ["id", "k", "seq", "late", "v"], ["STRING", "INT", "BIGINT", "BOOLEAN", "BIGINT"]
    )
    schema = schema.column_by_metadata("ts", "TIMESTAMP_LTZ(3)", "rowtime").watermark("ts", "SOURCE_WATERMARK()")
    t_env.create_temporary_view(f"s{number}", t_env.from_data_stream(stream, schema.build()))
