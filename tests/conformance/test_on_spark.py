"""What must also hold when tasks run in other processes: one program each for what travels to them and back."""

from __future__ import annotations

import shutil
import uuid

import pytest

from headrace.common import Configuration, Row, Types
from headrace.datastream import KeySelector, MapFunction, StreamExecutionEnvironment
from headrace.testing import CollectingSink

pytestmark = pytest.mark.spark


@pytest.fixture
def on_spark(spark) -> StreamExecutionEnvironment:
    configuration = Configuration().set_string("headrace.executor", "spark")
    return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(2)


def test_files_parameters_and_accumulators_travel(on_spark, tmp_path):
    module = f"lib_{uuid.uuid4().hex}"
    (tmp_path / f"{module}.py").write_text("def add_two(a):\n    return a + 2\n")
    (tmp_path / "content").mkdir()
    (tmp_path / "content" / "data.txt").write_text("10")
    (tmp_path / "cached").write_text("100")
    on_spark.add_python_file(str(tmp_path / f"{module}.py"))
    on_spark.add_python_archive(shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path / "content"), "data")
    on_spark.register_cached_file(str(tmp_path / "cached"), "cached")
    on_spark.get_config().set_global_job_parameters({"more": "1000"})

    class Adds(MapFunction):
        def open(self, runtime_context):
            cached = runtime_context.get_distributed_cache().get_file("cached").read_text()
            self.more = int(cached) + int(runtime_context.get_job_parameter("more", "0"))
            self.seen = runtime_context.get_int_counter("seen")
            self.metric = runtime_context.get_metrics_group().counter("seen")

        def map(self, value):
            import importlib

            self.seen.add(1)
            self.metric.inc()
            with open("data/data.txt") as data:
                return importlib.import_module(module).add_two(value) + int(data.read()) + self.more

    sink = CollectingSink()
    on_spark.from_collection([1, 2, 3]).rebalance().map(Adds()).add_sink(sink)
    result = on_spark.execute()
    assert sorted(sink.get_values()) == [1113, 1114, 1115]
    assert result.get_accumulator_result("seen") == 3


def test_selectors_rows_and_loops(on_spark):
    class Parity(KeySelector):
        def open(self, runtime_context):
            self.modulus = 2

        def get_key(self, value):
            return value[0] % self.modulus

    row = Types.ROW([Types.INT(), Types.STRING()])
    rows = on_spark.from_collection([(1, "a"), (2, "b"), (3, "c")], row).key_by(Parity(), Types.INT())
    assert sorted(rows.execute_and_collect(), key=str) == [
        Row(f0=0, f1=Row(f0=2, f1="b")),
        Row(f0=1, f1=Row(f0=1, f1="a")),
        Row(f0=1, f1=Row(f0=3, f1="c")),
    ]
    loop = on_spark.from_collection([3, 1]).iterate()
    less = loop.map(lambda number: number - 1)
    loop.close_with(less.filter(lambda number: number > 0))
    assert sorted(less.execute_and_collect()) == [0, 0, 1, 2]
