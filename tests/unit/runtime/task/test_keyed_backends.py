"""Directories of disk state: what a killed process has left goes when the next one starts, even if that has no state."""

from __future__ import annotations

import subprocess
import sys

from headrace.runtime.task.keyed_backends import BackendMaker, BackendSettings


def test_what_dead_processes_have_left_goes_and_what_living_ones_use_stays(tmp_path):
    settings = BackendSettings(on_disk=True)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (tmp_path / f"slot-state-{dead.pid}" / "0").mkdir(parents=True)
    living = BackendMaker(settings, tmp_path)
    backend = living.make(128, range(128), 1)
    before = {path.name for path in tmp_path.iterdir()}
    assert f"slot-state-{dead.pid}" not in before
    BackendMaker(settings, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == before != set()
    backend.close()
    living.close()
    assert not list(tmp_path.iterdir())
