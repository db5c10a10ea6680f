"""Processes that are known again later, and never mistaken for others."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

from headrace.cli.local_cluster import NotedProcess, end_process, start_process


def test_a_process_is_started_known_and_ended(tmp_path):
    command = [sys.executable, "-c", "print('here', flush=True); import time; time.sleep(60)"]
    noted = start_process("sleeper", command, tmp_path / "log" / "out.log", os.environ)
    while "here" not in (tmp_path / "log" / "out.log").read_text():
        assert noted.is_alive()
    assert os.getsid(noted.pid) == noted.pid, "it does not end with the terminal"
    assert end_process(noted, 20)
    assert not noted.is_alive() and end_process(noted, 20)


def test_what_does_not_listen_is_killed(tmp_path):
    deaf = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('here', flush=True); time.sleep(60)"
    )
    noted = start_process("deaf", [sys.executable, "-c", deaf], tmp_path / "out.log", os.environ)
    while "here" not in (tmp_path / "out.log").read_text():
        assert noted.is_alive()
    assert not end_process(noted, 0.2)
    assert os.waitpid(noted.pid, 0)[1] == 9


def test_another_process_with_the_same_id_is_left_alone():
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    noted = replace(NotedProcess.of(other.pid, "mine"), began="long ago")
    assert not noted.is_alive()
    assert end_process(noted, 1)
    assert other.poll() is None, "it was not signalled"
    other.kill()
    other.wait()
    assert not NotedProcess.of(other.pid, "gone").is_alive()
