"""Jobs with the disk backend on Spark: results, what a lost process leaves behind, where files are."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import cloudpickle
import pytest

from headrace.common import Types, WatermarkStrategy
from headrace.common.errors import ConfigurationError
from headrace.datastream import EmbeddedRocksDBStateBackend, HashMapStateBackend, KeyedProcessFunction
from headrace.datastream.state import MapStateDescriptor, ValueStateDescriptor
from headrace.testing import EndEpoch, Record, event_source

cloudpickle.register_pickle_by_value(sys.modules[__name__])

KEYS, EPOCHS = 4000, 3


class Count(KeyedProcessFunction):
    """Counts per key, with a timer that clears; on request its process dies once."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", Types.LONG(), Types.STRING()))

    def process_element(self, value: tuple[int, int], ctx: Any) -> Any:
        key, epoch = value
        if value == (17, EPOCHS - 1) and os.path.exists(f"{self.folder}/die"):
            os.unlink(f"{self.folder}/die")
            os.kill(os.getpid(), signal.SIGKILL)
        self.count.update((self.count.value() or 0) + 1)
        self.seen.put(epoch, "x" * 500)
        ctx.timer_service().register_event_time_timer(10**6 + key)
        if epoch == EPOCHS - 1:
            yield key, self.count.value(), sorted(self.seen.keys())

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield "timer", timestamp - 10**6, self.count.value()


def build(env: Any, folder: Path) -> Any:
    events = [e for i in range(EPOCHS) for e in (*(Record((key, i), i) for key in range(KEYS)), EndEpoch())]
    numbers = env.from_source(event_source(events), WatermarkStrategy.no_watermarks(), "numbers")
    return numbers.key_by(lambda v: v[0], Types.LONG()).process(Count(folder))


def check(rows: list[Any]) -> None:
    expected = Counter((key, EPOCHS, tuple(range(EPOCHS))) for key in range(KEYS))
    expected.update(("timer", key, EPOCHS) for key in range(KEYS))
    assert Counter((a, b, tuple(c) if isinstance(c, list) else c) for a, b, c in rows) == expected


def databases(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.name == "CURRENT"]


@pytest.mark.spark
def test_state_larger_than_its_memory_and_a_lost_process(make_env, tmp_path):
    (tmp_path / "die").touch()
    env = make_env(2, **{"state.backend": "rocksdb", "state.backend.rocksdb.memory.fixed_per_slot": "1 mb"})
    backend = EmbeddedRocksDBStateBackend()
    backend.set_db_storage_paths(str(tmp_path / "disk"))
    env.set_state_backend(backend)
    was_on_disk = False
    rows = []
    for row in build(env, tmp_path).execute_and_collect():
        rows.append(row)
        if len(rows) == 10:
            was_on_disk = bool(databases(tmp_path))
    check(rows)
    assert not (tmp_path / "die").exists(), "a process died"
    assert was_on_disk
    assert databases(tmp_path) == []


def test_on_the_local_executor_and_nothing_is_left(make_local_env, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    env = make_local_env({"state.backend.type": "rocksdb", "state.backend.rocksdb.memory.fixed-per-slot": "1 mb"})
    check(list(build(env, tmp_path).execute_and_collect()))
    assert databases(tmp_path) == [] and list(tmp_path.rglob("slot-state-*")) == []


def test_the_configuration_is_checked(make_local_env, tmp_path):
    env = make_local_env({"state.backend.type": "rocksdb", "state.backend.rocksdb.memory.fixed-per-slot": "1 kb"})
    with pytest.raises(ConfigurationError, match="fixed-per-slot is too small"):
        build(env, tmp_path).execute_and_collect()


def test_without_rocksdict_the_job_is_refused_at_once(make_local_env, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rocksdict", None)
    env = make_local_env({}).set_state_backend(EmbeddedRocksDBStateBackend())
    with pytest.raises(Exception, match=r"pip install 'headrace\[rocksdb\]'"):
        build(env, tmp_path).execute_and_collect()
    env = make_local_env({}).set_state_backend(HashMapStateBackend())
    check(list(build(env, tmp_path).execute_and_collect()))
