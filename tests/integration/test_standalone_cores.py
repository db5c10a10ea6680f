"""Executors with several cores on a Spark standalone cluster: every core works, and state stays where it is."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from standalone import LIGHT, standalone

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PROGRAM = """
    import json, os, sys, time
    import psutil
    from headrace.common import Configuration, WatermarkStrategy
    from headrace.datastream import KeyedProcessFunction, MapFunction, StreamExecutionEnvironment
    from headrace.datastream.connectors.datagen import DataGeneratorSource
    from headrace.datastream.state import ValueStateDescriptor

    KEYS = 64
    wanted = json.loads(os.environ["WANTED"])

    class Read(MapFunction):
        def open(self, context):
            self.place = ["read", context.get_index_of_this_subtask(), os.getpid(), sys.argv[1]]
        def map(self, index):
            time.sleep(wanted.get("seconds", 0))
            return index % KEYS, self.place

    class Count(KeyedProcessFunction):
        def open(self, context):
            self.place = ["count", context.get_index_of_this_subtask(), os.getpid(), sys.argv[1]]
            self.count = context.get_state(ValueStateDescriptor("count", None))
        def process_element(self, value, context):
            count = (self.count.value() or 0) + 1
            self.count.update(count)
            yield value[0], count, value[1], self.place

    configuration = Configuration()
    for key, value in json.loads(os.environ["SETTINGS"]).items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(wanted["parallelism"])
    numbers = env.from_source(
        DataGeneratorSource(lambda index: index, records_per_second=2000), WatermarkStrategy.no_watermarks(), "numbers"
    )
    counts = numbers.map(Read()).key_by(lambda v: v[0]).process(Count())

    # Each phase ends when every subtask of both vertices has been seen in so many processes.
    deadline = time.monotonic() + 150
    phases, seen, totals, wrong, victim = [], {}, {}, [], None

    with counts.execute_and_collect() as rows:
        for key, count, read, counted in rows:
            if count != totals.get(key, 0) + 1:
                wrong.append((key, count, totals.get(key)))
            totals[key] = count
            for vertex, subtask, pid, folder in (read, counted):
                if folder != victim:
                    seen[vertex, subtask] = (pid, folder)
            full = len(seen) == 2 * wanted["parallelism"] and min(
                len({pid for (v, _), (pid, _) in seen.items() if v == vertex}) for vertex in ("read", "count")
            ) >= wanted["processes"]
            if full or time.monotonic() > deadline:
                phases.append([[*task, *place] for task, place in seen.items()])
                if len(phases) == 2 or not wanted["kill"] or not full:
                    break
                victim = counted[-1]
                psutil.Process(int(os.path.basename(victim))).parent().kill()
                seen = {task: place for task, place in seen.items() if place[1] != victim}
    print(json.dumps({"phases": phases, "wrong": wrong, "keys": len(totals)}))
"""


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a short path: sockets are made in it."""
    return tmp_path_factory.mktemp("c")


def run(
    start_script: Callable[..., Any], place: Path, master: str, more: dict[str, str], **wanted: Any
) -> dict[str, Any]:
    """Runs the program with more settings of Spark; gives where it has seen the subtasks of both vertices."""
    script = place / "program.py"
    script.write_text(textwrap.dedent(PROGRAM))
    settings = {
        "spark.master": master,
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": LIGHT,
        "spark.driver.memory": "512m",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
        **more,
    }
    running = start_script(script, place, SETTINGS=json.dumps(settings), WANTED=json.dumps(wanted), TMPDIR=str(place))
    finished = running.finish(280)
    assert finished.returncode == 0, finished.report()
    result = json.loads(finished.stdout)
    assert result["wrong"] == [], "each record of a key was counted exactly once"
    return result


def two_of(cores: int) -> dict[str, str]:
    return {"spark.executor.cores": str(cores), "spark.cores.max": str(2 * cores)}


def processes_of(phase: list[list[Any]], vertex: str) -> dict[str, set[int]]:
    """The processes that ran a vertex, by the folder of their executor."""
    found: dict[str, set[int]] = {}
    for name, _, pid, folder in phase:
        if name == vertex:
            found.setdefault(folder, set()).add(pid)
    return found


@pytest.mark.parametrize("cores", [2, 4])
def test_every_core_of_two_executors_has_a_process_of_its_own(start_script, place, cores):
    with standalone(place, 2 * cores) as master:
        result = run(start_script, place, master, two_of(cores), parallelism=2 * cores, processes=2 * cores, kill=False)
    (phase,) = result["phases"]
    for vertex in ("read", "count"):
        assert [len(pids) for pids in processes_of(phase, vertex).values()] == [cores, cores], phase


def test_an_executor_that_comes_back_works_again_and_no_live_state_moves(start_script, place):
    with standalone(place, 4) as master:
        result = run(start_script, place, master, two_of(2), parallelism=4, processes=4, kill=True)
    before, after = result["phases"]
    assert [len(pids) for pids in processes_of(before, "count").values()] == [2, 2]
    for vertex in ("read", "count"):
        assert [len(pids) for pids in processes_of(after, vertex).values()] == [2, 2], "every core works again"
    survivor = {folder for *_, folder in before} & {folder for *_, folder in after}
    assert len(survivor) == 1
    stayed = [task for task in before if task[-1] in survivor]
    assert len(stayed) == 4
    assert all(task in after for task in stayed), "what was not lost is in the same process as before"


@pytest.mark.long
def test_uneven_executors_work_with_all_of_their_cores(start_script, place):
    with standalone(place, 1, 3) as master:
        result = run(start_script, place, master, {"spark.cores.max": "4"}, parallelism=4, processes=4, kill=False)
    (phase,) = result["phases"]
    for vertex in ("read", "count"):
        assert sorted(len(pids) for pids in processes_of(phase, vertex).values()) == [1, 3], phase


@pytest.mark.long
def test_an_executor_that_dynamic_allocation_adds_gets_its_share(start_script, place):
    dynamic = {
        "spark.executor.cores": "2",
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.shuffleTracking.enabled": "true",
        "spark.dynamicAllocation.minExecutors": "1",
        "spark.dynamicAllocation.maxExecutors": "2",
        "spark.dynamicAllocation.schedulerBacklogTimeout": "1s",
    }
    with standalone(place, 4) as master:
        result = run(start_script, place, master, dynamic, parallelism=4, processes=4, kill=False, seconds=0.002)
    (phase,) = result["phases"]
    for vertex in ("read", "count"):
        assert [len(pids) for pids in processes_of(phase, vertex).values()] == [2, 2], phase
