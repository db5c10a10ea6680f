"""A job on a real YARN of this machine, in client mode: keyed state, checkpoints, the loss of an executor."""

from __future__ import annotations

import fcntl
import json
import os
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark
import pytest

from hadoop_kit.daemons import read_json

if TYPE_CHECKING:
    from hadoop_kit.hdfs import Hdfs
    from hadoop_kit.yarn import Yarn

pytestmark = [pytest.mark.spark, pytest.mark.slow]

LIGHT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
EPOCHS = 6
KEYS = 3

PROGRAM = f"""
    import json, os
    import psutil
    from headrace.common import Configuration, Types, WatermarkStrategy
    from headrace.datastream import KeyedProcessFunction, StreamExecutionEnvironment
    from headrace.datastream.state import ValueStateDescriptor
    from headrace.testing import EndEpoch, Record, event_source

    EPOCHS, KEYS = {EPOCHS}, {KEYS}

    class Count(KeyedProcessFunction):
        def open(self, runtime_context):
            self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        def process_element(self, value, ctx):
            now = (self.count.value() or 0) + 1
            self.count.update(now)
            yield ctx.get_current_key(), now, os.getpid(), os.getcwd(), os.environ["SPARK_LOCAL_DIRS"]

    def executor_of(pid):
        return next(p for p in psutil.Process(pid).parents() if "YarnCoarseGrainedExecutorBackend" in " ".join(p.cmdline()))

    configuration = Configuration()
    for key, value in json.loads(os.environ["SETTINGS"]).items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    lists = [[e for i in range(EPOCHS) for e in (Record(i % KEYS), EndEpoch())] for s in range(2)]
    source = env.from_source(event_source(*lists), WatermarkStrategy.no_watermarks(), "events")
    rows = []
    for row in source.key_by(lambda v: v).process(Count()).execute_and_collect():
        rows.append(row)
        if len(rows) == int(os.environ.get("KILL_AT", "0")):
            executor_of(row[2]).kill()
    print(json.dumps(rows))
"""


def settings(place: Path) -> dict[str, str]:
    return {
        "spark.master": "yarn",
        "spark.yarn.jars": f"local:{Path(pyspark.__file__).parent}/jars/*",
        "spark.yarn.stagingDir": (place / "staging").as_uri(),
        "spark.yarn.am.memory": "256m",
        "spark.yarn.am.extraJavaOptions": LIGHT,
        "spark.executor.instances": "1",
        "spark.executor.cores": "2",
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": LIGHT,
        "spark.driver.memory": "512m",
        "spark.driver.host": "127.0.0.1",
        "execution.checkpointing.interval": "100 ms",
        "execution.checkpointing.dir": (place / "checkpoints").as_uri(),
        "headrace.state.directory": str(place / "state"),
    }


def run(start_script: Any, yarn: Yarn, place: Path, configuration: dict[str, str], **environment: str) -> list[Any]:
    script = place / "program.py"
    script.write_text(textwrap.dedent(PROGRAM))
    running = start_script(
        script, place, SETTINGS=json.dumps(configuration), HADOOP_CONF_DIR=str(yarn.conf), **environment
    )
    finished = running.finish(280)
    assert finished.returncode == 0, f"{finished.report()}\n{yarn.container_logs()}"
    return list(json.loads(finished.stdout))


def assert_counted(rows: list[Any]) -> None:
    """Every record was counted exactly once."""
    counts: dict[int, list[int]] = {}
    for key, count, *_ in rows:
        counts.setdefault(key, []).append(count)
    assert {key: sorted(found) for key, found in counts.items()} == {
        key: list(range(1, 2 * len(range(key, EPOCHS, KEYS)) + 1)) for key in range(KEYS)
    }


def is_unused(folder: Path) -> bool:
    """Whether no process holds a folder of sockets; those of tests that run beside this one are held."""
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(opened)
    return folder.exists()


def test_keyed_state_and_checkpoints_on_yarn(start_script, yarn: Yarn, tmp_path: Path):
    """With the documented settings: sockets and local files are where an executor can have them, not where the driver has."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    before = set(Path("/tmp").glob("headrace-py-*"))
    rows = run(start_script, yarn, tmp_path, settings(tmp_path), TMPDIR=str(temporary))
    assert_counted(rows)
    for *_, folder, local in rows:
        assert len(os.fsencode(f"{folder}/tmp")) > 60, "a container's own folder is too long for PySpark's sockets"
        assert "appcache" in local, "Spark's local files of executors"
    assert list(temporary.iterdir()) == []
    assert [path for path in Path("/tmp").glob("headrace-py-*") if path not in before and is_unused(path)] == []
    assert yarn.applications()[-1]["finalStatus"] == "SUCCEEDED"


@pytest.mark.long
def test_an_executor_that_yarn_loses_is_replaced(start_script, yarn: Yarn, tmp_path: Path):
    assert_counted(run(start_script, yarn, tmp_path, settings(tmp_path), KILL_AT="5"))


@pytest.mark.long
def test_checkpoints_on_hdfs(start_script, yarn: Yarn, hdfs: Hdfs, tmp_path: Path):
    """The driver writes them by WebHDFS; a job with a name keeps the last one."""
    more = {"execution.checkpointing.dir": f"{hdfs.web_address}/checkpoints", "headrace.job.id": "a" * 32}
    assert_counted(run(start_script, yarn, tmp_path, {**settings(tmp_path), **more}))
    listed = read_json(f"http://127.0.0.1:{hdfs.http_port}/webhdfs/v1/checkpoints?op=LISTSTATUS")
    assert listed["FileStatuses"]["FileStatus"], "the checkpoints of the job"
