"""Parquet -> filter, map -> Parquet: `python parquet_job.py make|pyspark|columns|rows FOLDER ROWS` prints seconds.

All engines run on Spark with two cores, once on a small folder to warm up, then on the large one.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import Any

FILES = 8
WARM_ROWS = 80_000


def make(folder: Path, rows: int) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    for name, total in (("warm", WARM_ROWS), ("large", rows)):
        (folder / name).mkdir()
        for number in range(FILES):
            ids = pa.array(range(number, total, FILES), pa.int64())
            amount = pc.multiply(pc.cast(pc.bit_wise_and(ids, 1023), pa.float64()), 0.25)
            users = pc.binary_join_element_wise("user", pc.cast(pc.bit_wise_and(ids, 65535), pa.string()), "-")
            kinds = pc.if_else(pc.equal(pc.bit_wise_and(ids, 3), 0), "sale", "return")
            table = pa.table({"id": ids, "user": users, "amount": amount, "kind": kinds})
            pq.write_table(table, folder / name / f"{number}.parquet", row_group_size=250_000)


def pyspark_job() -> Any:
    from pyspark.sql import SparkSession, functions

    settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()

    def run(source: str, target: str) -> None:
        frame = spark.read.parquet(source).filter(functions.col("amount") >= 64.0)
        gross = (functions.col("amount") * 1.2).alias("gross")
        frame.select("id", "user", gross).write.parquet(target)

    return run


def headrace_job(by_columns: bool) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    from headrace.common import Configuration, Row, WatermarkStrategy
    from headrace.datastream import StreamExecutionEnvironment
    from headrace.datastream.connectors.file_system import BucketAssigner, FileSink, FileSource
    from headrace.datastream.formats.parquet import ParquetBulkWriters, ParquetColumnarRowInputFormat
    from headrace.table import DataTypes

    fields = {"id": DataTypes.BIGINT(), "user": DataTypes.STRING(), "amount": DataTypes.DOUBLE()}
    read = DataTypes.ROW([DataTypes.FIELD(name, kind) for name, kind in fields.items()])
    written = DataTypes.ROW([*read.fields[:2], DataTypes.FIELD("gross", DataTypes.DOUBLE())])

    def gross(batch: Any) -> Any:
        total = pc.multiply(batch["amount"], 1.2)
        return pa.record_batch([batch["id"], batch["user"], total], ["id", "user", "gross"])

    def run(source: str, target: str) -> None:
        configuration = Configuration().set_string("headrace.progress", "never")
        env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(2)
        files = FileSource.for_bulk_file_format(ParquetColumnarRowInputFormat(read), source).build()
        stream = env.from_source(files, WatermarkStrategy.no_watermarks(), "files")
        if by_columns:
            kept = stream.filter_columns(lambda batch: pc.greater_equal(batch["amount"], 64.0))
            results = kept.map_columns(gross, written)
        else:
            kept = stream.filter(lambda row: row.amount >= 64.0)
            results = kept.map(lambda row: Row(id=row.id, user=row.user, gross=row.amount * 1.2), written_type)
        sink = FileSink.for_bulk_format(target, ParquetBulkWriters.for_row_type(written))
        results.sink_to(sink.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build())
        env.execute()

    from headrace.types.data_types import stream_type

    written_type = stream_type(written)
    return run


def main(engine: str, folder: Path, rows: int) -> None:
    import pyarrow.parquet as pq

    if engine == "make":
        return make(folder, rows)
    run = pyspark_job() if engine == "pyspark" else headrace_job(engine == "columns")
    target = folder / f"out-{engine}"
    seconds = 0.0
    for name, total in (("warm", WARM_ROWS), ("large", rows)):
        shutil.rmtree(target, ignore_errors=True)
        started = time.perf_counter()
        run(str(folder / name), str(target))
        seconds = time.perf_counter() - started
        parts = [pq.ParquetFile(path) for path in target.glob("part-*")]
        whole, rest = divmod(total, 1024)
        if sum(part.metadata.num_rows for part in parts) != whole * 768 + max(rest - 256, 0):
            raise RuntimeError("not all rows arrived")
    print(seconds)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
