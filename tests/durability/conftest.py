"""Jobs with checkpoints on the local executor: real files, real restarts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from headrace.common import Configuration
from headrace.datastream import StreamExecutionEnvironment

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def tmp_path(memory_path):
    return memory_path


@pytest.fixture
def make_env(tmp_path, monkeypatch):
    """Gives environments that make a checkpoint at every epoch's end, in a folder of the test."""
    monkeypatch.setenv("HEADRACE_EXECUTOR", "local")
    monkeypatch.setenv("HEADRACE_STATE_KEY_FILE", str(tmp_path / "state.key"))

    def make(parallelism=2, interval="20 ms", directory=True, **settings):
        configuration = Configuration()
        if interval is not None:
            configuration.set_string("execution.checkpointing.interval", interval)
        if directory:
            configuration.set_string("execution.checkpointing.dir", str(tmp_path / "checkpoints"))
        for key, value in {
            "execution.checkpointing.savepoint-dir": str(tmp_path / "savepoints"),
            "headrace.epoch.max-records": "100",
            "headrace.epoch.first-records": "100",
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": "3",
            "restart-strategy.fixed-delay.delay": "1 ms",
        }.items():
            configuration.set_string(key, value)
        for key, value in settings.items():
            configuration.set_string(key.replace("__", ".").replace("_", "-"), str(value))
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(parallelism)
        return env

    return make
