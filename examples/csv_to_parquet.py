"""Files in, files out: orders are read from CSV, summed by product and written as Parquet, once each."""

import csv
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

from headrace.common import Row, Types, WatermarkStrategy
from headrace.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from headrace.datastream.connectors.file_system import BucketAssigner, FileSink, FileSource
from headrace.datastream.formats.csv import CsvReaderFormat, CsvSchema
from headrace.datastream.formats.parquet import ParquetBulkWriters
from headrace.table import DataTypes

ORDERS = [("tea", 2, 3.5), ("coffee", 1, 8.0), ("tea", 1, 3.5), ("cups, blue", 6, 1.25), ("coffee", 2, 8.0)]


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    with (folder / "orders.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("product", "count", "price"), *ORDERS])

    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)

    columns = CsvSchema.builder().add_string_column("product").add_number_column("count", DataTypes.INT())
    schema = columns.add_number_column("price", DataTypes.DOUBLE()).set_use_header().build()
    source = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(schema), str(folder / "orders.csv")).build()
    orders = env.from_source(source, WatermarkStrategy.no_watermarks(), "orders")

    totals = (
        orders.map(lambda order: (order["product"], order["count"] * order["price"]))
        .key_by(lambda total: total[0], Types.STRING())
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
        .map(lambda total: Row(*total), Types.ROW_NAMED(["product", "total"], [Types.STRING(), Types.DOUBLE()]))
    )

    rows = DataTypes.ROW([DataTypes.FIELD("product", DataTypes.STRING()), DataTypes.FIELD("total", DataTypes.DOUBLE())])
    sink = FileSink.for_bulk_format(str(folder / "totals"), ParquetBulkWriters.for_row_type(rows))
    totals.sink_to(sink.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build())
    env.execute("csv to parquet")

    for row in pq.read_table(folder / "totals").sort_by("product").to_pylist():
        print(row["product"], row["total"])


if __name__ == "__main__":
    main()
