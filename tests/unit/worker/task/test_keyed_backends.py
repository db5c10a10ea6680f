"""Directories of disk state: what a killed process has left goes when the next one starts, even if that has no state."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from headrace.common.errors import ConfigurationError
from headrace.config.worker_settings import BackendSettings
from headrace.foundation.private_folders import make_folders
from headrace.worker.task.keyed_backends import BackendMaker

PROGRAM = """
import os, signal, sys
from pathlib import Path
from headrace.worker.task.keyed_backends import BackendMaker
from headrace.config.worker_settings import BackendSettings

BackendMaker(BackendSettings(on_disk=True), Path(sys.argv[1])).make(128, range(128), 1)
print("made", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_dead_processes_have_left_goes_and_what_living_ones_use_stays(tmp_path):
    settings = BackendSettings(on_disk=True)
    with subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path)], stdout=subprocess.PIPE) as dead:
        assert dead.stdout.read() == b"made\n"  # until it is dead: a zombie, for nobody has asked how it ended
        (left,) = tmp_path.iterdir()
        living = BackendMaker(settings, tmp_path)
    assert not left.exists()
    backend = living.make(128, range(128), 1)
    before = set(tmp_path.iterdir())
    BackendMaker(settings, tmp_path)
    assert set(tmp_path.iterdir()) == before != set()
    backend.close()
    living.close()
    assert not list(tmp_path.iterdir())


def test_two_makers_in_one_process_do_not_share_a_directory(tmp_path):
    first, second = (BackendMaker(BackendSettings(on_disk=True), tmp_path) for _ in range(2))
    first.make(128, range(128), 1).close()
    (of_first,) = tmp_path.iterdir()
    backend = second.make(128, range(128), 1)
    (of_second,) = set(tmp_path.iterdir()) - {of_first}
    first.close()
    assert of_second.exists() and not of_first.exists()
    backend.close()
    second.close()
    assert not list(tmp_path.iterdir())


def test_every_named_directory_is_looked_at(tmp_path):
    folders = [tmp_path / name for name in "ab"]
    left = [folder / f"headrace-{os.getuid()}-state" / "slot-state-x" for folder in folders]
    for path in left:
        make_folders(path)
    BackendMaker(BackendSettings(on_disk=True, directories=tuple(map(str, folders))), None)
    assert not any(path.exists() for path in left)


@pytest.mark.parametrize("kind", ["open", "link", "file"])
def test_a_directory_that_is_not_private_is_refused(tmp_path, kind):
    name = tmp_path / f"headrace-{os.getuid()}-state"
    if kind == "open":
        name.mkdir()
        name.chmod(0o770)
    elif kind == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        name.symlink_to(tmp_path / "elsewhere")
    else:
        name.touch()
    settings = BackendSettings(on_disk=True, directories=(str(tmp_path),))
    with pytest.raises(ConfigurationError, match="0700"):
        BackendMaker(settings, None)
