"""Savepoints of real jobs on the local executor, in a folder of the test."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from headrace.common import Configuration
from headrace.datastream import StreamExecutionEnvironment

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def make_env(tmp_path, monkeypatch):
    """Gives environments; `path` is what a job of one starts from."""
    monkeypatch.setenv("HEADRACE_EXECUTOR", "local")
    monkeypatch.setenv("HEADRACE_STATE_KEY_FILE", str(tmp_path / "state.key"))

    def make(parallelism=2, path=None, backend=None, **settings):
        configuration = Configuration()
        configuration.set_string("execution.checkpointing.savepoint-dir", str(tmp_path / "savepoints"))
        configuration.set_string("headrace.epoch.max-records", "100")
        configuration.set_string("headrace.epoch.first-records", "100")
        if path is not None:
            configuration.set_string("execution.state-recovery.path", path)
        if backend is not None:
            configuration.set_string("state.backend.type", backend)
        for key, value in settings.items():
            configuration.set_string(key.replace("__", ".").replace("_", "-"), str(value))
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        return env.set_parallelism(parallelism)

    return make
