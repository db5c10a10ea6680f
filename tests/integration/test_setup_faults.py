"""A set-up in which Spark or its workers cannot run: the error says what is wrong and what to do, without a Java trace."""

from __future__ import annotations

import os
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from headrace.common.errors import ConfigurationError
from headrace.datastream import StreamExecutionEnvironment
from headrace.spark.context import spark_context

pytestmark = pytest.mark.spark


@pytest.fixture
def spark(spark: Any) -> Any:
    """The context that jobs run on: another test may have stopped the one that the tests began with."""
    return spark_context(None, {"spark.master": "local[2,4]"})


def run_a_job(make_env) -> ConfigurationError:
    env: StreamExecutionEnvironment = make_env(2)
    env.from_sequence(1, 4).print()
    with pytest.raises(ConfigurationError) as caught:
        env.execute()
    assert "\tat " not in str(caught.value)
    return caught.value


def test_no_such_python(make_env, spark, monkeypatch):
    monkeypatch.setattr(spark, "pythonExec", "/no/such/python")
    error = run_a_job(make_env)
    assert "cannot start '/no/such/python'" in str(error)
    assert "spark.pyspark.python" in str(error)


def test_another_version_of_python(make_env, spark, monkeypatch):
    monkeypatch.setattr(spark, "pythonVer", "3.99")
    error = run_a_job(make_env)
    assert "another version of Python" in str(error)


def test_a_python_without_headrace(make_env, spark, monkeypatch, tmp_path):
    """It has PySpark, but not headrace."""
    bare = tmp_path / "python"
    hidden = "import sys; sys.modules['headrace'] = None\n"
    (tmp_path / "sitecustomize.py").write_text(hidden)
    bare.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}:$PYTHONPATH" exec {sys.executable} "$@"\n')
    bare.chmod(0o755)
    monkeypatch.setattr(spark, "pythonExec", str(bare))
    error = run_a_job(make_env)
    assert "no module 'headrace'" in str(error)
    assert "install headrace" in str(error)


PROGRAM = """
    from headrace.datastream import StreamExecutionEnvironment

    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_sequence(1, 4).print()
    env.execute()
"""


@pytest.mark.parametrize(
    ("version", "said"), [(None, "none was found"), ("11.0.2", "Java 11"), ("broken", "does not run")]
)
def test_java_is_missing_too_old_or_broken(run_script, tmp_path: Path, version, said):
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(PROGRAM))
    home = tmp_path / "java"
    if version is not None:
        java = home / "bin" / "java"
        java.parent.mkdir(parents=True)
        java.write_text('#!/bin/sh\necho "cannot load libjvm" >&2\nexit 1\n')
        java.chmod(0o755)
        if version != "broken":
            (home / "release").write_text(f'JAVA_VERSION="{version}"\n')
    path = os.pathsep.join(
        p for p in os.environ["PATH"].split(os.pathsep) if not os.path.exists(os.path.join(p, "java"))
    )
    finished = run_script(script, tmp_path, 60, JAVA_HOME=str(home), PATH=path)
    assert finished.returncode == 1
    assert said in finished.stderr
    assert "apt-get install openjdk-17-jre-headless" in finished.stderr
    assert "JAVA_GATEWAY_EXITED" not in finished.stderr
