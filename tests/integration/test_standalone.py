"""A job on a Spark standalone cluster of this machine: a master, a worker, two executor processes."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from standalone import LIGHT, standalone

pytestmark = [pytest.mark.spark, pytest.mark.slow]

EPOCHS = 15
KEYS = (0, 2, 4, 9, 1)
"""Every one of the four subtasks has one: an executor that has any subtask gives rows."""


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a short path: sockets are made in it."""
    return tmp_path_factory.mktemp("c")


@pytest.fixture
def cluster(place: Path) -> Iterator[str]:
    """A cluster with two cores; gives its master URL."""
    with standalone(place, 2) as master:
        yield master


PROGRAM = f"""
    import json, os, sys
    import psutil
    from headrace.common import Configuration, WatermarkStrategy
    from headrace.datastream import MapFunction, StreamExecutionEnvironment
    from headrace.driver import executor
    from headrace.testing import EndEpoch, Record, event_source

    EPOCHS, KEYS = {EPOCHS}, {KEYS}

    class Witness(MapFunction):
        def open(self, runtime_context):
            self.subtask = runtime_context.get_index_of_this_subtask()
            self.calls = 0
        def map(self, value):
            self.calls += 1
            return *value, self.subtask, self.calls, os.getpid(), sys.argv[1]

    def slots():
        commands = [p.info["cmdline"] or [] for p in psutil.process_iter(["cmdline"])]
        return [c for c in commands if "headrace.worker.slot.process" in c and c[3].startswith(os.environ["TMPDIR"])]

    read = []
    def counted(frame, unpack=executor.unpack):
        read.append(frame)
        return unpack(frame)
    executor.unpack = counted

    def run(kill_at):
        read.clear()
        configuration = Configuration()
        for key, value in json.loads(os.environ["SETTINGS"]).items():
            configuration.set_string(key, value)
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(4)
        lists = [
            [e for i in range(EPOCHS) for e in (Record((KEYS[i % 5], s + 1)), Record((KEYS[i % 5], 10)), EndEpoch())]
            for s in range(4)
        ]
        source = env.from_source(event_source(*lists), WatermarkStrategy.no_watermarks(), "events")
        sums = source.key_by(lambda v: v[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))
        rows, killed = [], None
        for row in sums.map(Witness()).execute_and_collect():
            rows.append(row)
            if len(rows) == kill_at:
                killed = psutil.Process(int(os.path.basename(row[-1]))).parent()
                killed.kill()
        return {{"rows": rows, "left": slots(), "killed": killed and killed.pid, "read twice": len(read) - len(set(read))}}

    print(json.dumps([run(None), run(60)]))
"""


def test_two_executors_share_a_job_and_one_may_die(start_script, cluster, place):
    """The second job loses an executor: its subtasks go on elsewhere, from their state files."""
    script = place / "program.py"
    script.write_text(textwrap.dedent(PROGRAM))
    settings = {
        "spark.master": cluster,
        "spark.executor.cores": "1",
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": LIGHT,
        "spark.driver.memory": "512m",
        "spark.cores.max": "2",  # the ratio below means nothing to a standalone cluster without it
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
    }
    running = start_script(script, place, SETTINGS=json.dumps(settings), TMPDIR=str(place))
    finished = running.finish(240)
    assert finished.returncode == 0, finished.report()
    calm, hit = json.loads(finished.stdout)

    assert_sums(calm["rows"])
    assert len({folder for *_, folder in calm["rows"]}) == 2, "both executors have slots"
    places: dict[int, set[int]] = {}
    for _, _, subtask, _, pid, _ in calm["rows"]:
        places.setdefault(subtask, set()).add(pid)
    assert all(len(pids) == 1 for pids in places.values()), f"subtasks stay where their state is: {places}"
    assert calm["left"] == []
    assert calm["read twice"] == hit["read twice"] == 0, "the driver unpickles an acknowledgement once"

    assert hit["killed"]
    assert_sums(hit["rows"])
    assert hit["left"] == []
    assert not [path.name for path in place.iterdir() if path.name.startswith("headrace")]


def assert_sums(rows: list[list[int]]) -> None:
    """Every record was added exactly once: the running sums of a key rise by the right steps to the right end."""
    running: dict[int, list[int]] = {}
    for key, total, *_ in rows:
        running.setdefault(key, []).append(total)
    assert running.keys() == set(KEYS)
    epochs_of = {key: len(range(place, EPOCHS, len(KEYS))) for place, key in enumerate(KEYS)}
    for key, totals in running.items():
        assert len(totals) == 8 * epochs_of[key]
        assert totals == sorted(totals)
        assert totals[-1] == epochs_of[key] * (1 + 2 + 3 + 4 + 40)
        steps = sorted(after - before for before, after in zip([0, *totals], totals))
        assert steps == sorted([1, 2, 3, 4, 10, 10, 10, 10] * epochs_of[key])
