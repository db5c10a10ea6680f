"""What must also hold when tasks run in other processes: one program each for what travels to them and back."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import uuid
import zipfile

import pytest

from headrace.common import Configuration, Row, Types
from headrace.common.errors import ConfigurationError
from headrace.datastream import KeySelector, MapFunction, RuntimeExecutionMode, StreamExecutionEnvironment
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


def test_each_job_has_its_own_python(on_spark, tmp_path):
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nMY_PYTHON=this exec {sys.executable} "$@"\n')
    python.chmod(0o755)

    def which(value):
        return os.environ.get("MY_PYTHON")

    assert list(on_spark.from_collection([1]).map(which).execute_and_collect()) == [None]
    on_spark.set_python_executable(str(python))
    assert list(on_spark.from_collection([1]).map(which).execute_and_collect()) == ["this"]
    assert list(on_spark.from_collection([1]).map(lambda _: os.environ["python"]).execute_and_collect()) == [
        str(python)
    ]


def test_a_linked_python_need_not_have_headrace(on_spark, tmp_path):
    """A link to the Python of a virtual environment is the Python without that environment."""
    (tmp_path / "python").symlink_to(sys.executable)
    on_spark.set_python_executable(str(tmp_path / "python"))
    assert list(on_spark.from_collection([1]).map(lambda _: sys.executable).execute_and_collect()) == [
        str(tmp_path / "python")
    ]


def test_pythons_that_cannot_run_functions(on_spark, tmp_path):
    old = tmp_path / "python"
    old.write_text(
        f"#!{sys.executable}\nimport sys\nsys.version_info = (3, 1)\ncode = sys.argv[2]\ndel sys.argv[1:3]\nexec(code)\n"
    )
    old.chmod(0o755)
    for python, message in (("/no/such/python", "cannot start '/no/such/python'"), (old, "another version of Python")):
        on_spark.set_python_executable(str(python))
        on_spark.from_collection([1]).map(str).print()
        with pytest.raises(ConfigurationError, match=message):
            on_spark.execute()


@pytest.mark.slow
def test_requirements_are_installed_for_the_workers(on_spark, tmp_path):
    module = f"lib_{uuid.uuid4().hex}"
    (tmp_path / "packages").mkdir()
    info = f"{module}-1.0.dist-info"
    with zipfile.ZipFile(tmp_path / "packages" / f"{module}-1.0-py3-none-any.whl", "w") as packed:
        packed.writestr(f"{module}.py", "VALUE = 40\n")
        packed.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        packed.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        packed.writestr(f"{info}/RECORD", "")
    (tmp_path / "requirements.txt").write_text(f"{module}==1.0\n")
    on_spark.set_python_requirements(str(tmp_path / "requirements.txt"), str(tmp_path / "packages"))

    def add(value):
        import importlib

        return value + importlib.import_module(module).VALUE

    assert sorted(on_spark.from_collection([1, 2]).rebalance().map(add).execute_and_collect()) == [41, 42]


def test_cached_streams(on_spark, tmp_path):
    on_spark.set_runtime_mode(RuntimeExecutionMode.BATCH)
    calls = tmp_path / "calls"

    def twice(value):
        with open(calls, "a") as file:
            file.write("x")
        return value * 2

    cached = on_spark.from_collection([1, 2, 3]).rebalance().map(twice).cache()
    assert sorted(cached.execute_and_collect()) == sorted(cached.execute_and_collect()) == [2, 4, 6]
    assert calls.read_text() == "xxx"


def test_workers_see_what_the_driver_sees(run_script, tmp_path):
    """PYTHONPATH, the modules of the working directory and of the script's own, its classes, environment variables."""
    for folder, name in (("on_path", "far"), ("work", "near"), ("program", "beside")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{name}.py").write_text(f"def {name}(value):\n    return value + ' {name}'\n")
    (tmp_path / "work" / "data.txt").write_text("data")
    script = tmp_path / "program" / "job.py"
    script.write_text(
        textwrap.dedent("""
        import os, sys
        sys.path.append(os.getcwd())
        import beside, far, near
        from headrace.datastream import MapFunction, StreamExecutionEnvironment

        class Word:
            def __init__(self, text):
                self.text = text

        class Says(MapFunction):
            def map(self, word):
                with open("data.txt") as file:
                    return " ".join([far.far(near.near(beside.beside(word.text))), os.environ["MY_WORD"], file.read()])

        env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
        env.from_collection([Word("a")]).rebalance().map(lambda word: word).rebalance().map(Says()).print()
        env.execute()
        """)
    )
    path = os.pathsep.join([str(tmp_path / "on_path"), os.environ.get("PYTHONPATH", "")])
    done = run_script(script, cwd=tmp_path / "work", timeout_s=120, PYTHONPATH=path, MY_WORD="mine")
    assert done.returncode == 0, done.report()
    assert [line.partition("> ")[2] for line in done.stdout.splitlines()] == ["a beside near far mine data"]


@pytest.mark.parametrize("form", ["zip", "gztar"])
def test_a_python_that_comes_in_an_archive(on_spark, tmp_path, form):
    home = tmp_path / "content" / "env"
    (home / "bin").mkdir(parents=True)
    (home / "packages").mkdir()
    (home / "packages" / f"only_there_{form}.py").write_text("VALUE = 7\n")
    python = home / "bin" / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="$(dirname "$0")/../packages" exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    archive = shutil.make_archive(str(tmp_path / "packed"), form, tmp_path / "content")
    on_spark.add_python_archive(archive, "venv")
    on_spark.set_python_executable("venv/env/bin/python")

    def look(value):
        import importlib

        return value + importlib.import_module(f"only_there_{form}").VALUE, os.environ["python"]

    ((value, python_path),) = on_spark.from_collection([1]).map(look).execute_and_collect()
    assert value == 8
    assert python_path.endswith("/archives/venv/env/bin/python")
