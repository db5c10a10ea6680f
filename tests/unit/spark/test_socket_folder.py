"""The folder of the sockets between Spark and Python: who makes it, who removes it, and whom nobody trusts."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from headrace.foundation.private_folders import NotPrivateError
from headrace.spark.socket_folder import (
    SocketFolder,
    _remove_if_unused,
    new_socket_folder,
    socket_folder_of_daemon,
)

HOLD = """
import sys
from pathlib import Path
from headrace.spark.socket_folder import SocketFolder
folder = SocketFolder(Path(sys.argv[1]))
print("holds", flush=True)
sys.stdin.read()
"""
CONTEND = """
import os, socket, sys
from pathlib import Path
from headrace.spark.socket_folder import socket_folder_of_daemon
for turn in range(300):
    folder = socket_folder_of_daemon(sys.argv[1])
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder.path}/.{os.getpid()}-{turn}.sock")
    folder.release()
"""


@pytest.fixture
def temporary(shared_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary directory."""
    monkeypatch.setattr(tempfile, "tempdir", str(shared_folder))
    return shared_folder


def test_a_new_folder_is_private_short_and_gone_at_the_end(temporary: Path):
    before = os.umask(0)
    try:
        folder = new_socket_folder()
    finally:
        os.umask(before)
    assert folder.path.parent == temporary
    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert len(f"{folder.path}/.{'u' * 36}.sock") < 104
    (folder.path / ".left.sock").touch()
    folder.release()
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("kind", ["too long", "open to all"])
def test_a_temporary_directory_that_does_not_do_is_left_alone(tmp_path: Path, monkeypatch, kind):
    place = tmp_path / ("x" * 60) if kind == "too long" else Path(tempfile.mkdtemp(dir="/tmp"))
    place.mkdir(exist_ok=True)
    place.chmod(0o777)  # not sticky: others could rename what is in it
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    folder = new_socket_folder()
    folder.release()
    assert folder.path.parent == Path("/tmp")
    place.rmdir()


def test_a_folder_lives_as_long_as_its_last_user(temporary: Path):
    folder = new_socket_folder()
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == b"holds\n"
        folder.release()
        new_socket_folder().release()  # sweeps
        assert folder.path.is_dir(), "the other process uses it"
        other.kill()
    new_socket_folder().release()
    assert list(temporary.iterdir()) == [], "a killed process is no user"


def test_a_daemon_takes_the_named_folder_or_one_of_its_own(temporary: Path):
    named = temporary / "headrace-py-named"
    folder = socket_folder_of_daemon(str(named))
    assert folder.path == named
    folder.release()
    assert not named.exists()
    named.mkdir()
    named.chmod(0o755)
    for refused in (str(named), str(temporary / "missing" / "headrace-py-x"), None):
        folder = socket_folder_of_daemon(refused)
        assert folder.path.parent == temporary and str(folder.path) != refused
        folder.release()
    assert list(temporary.iterdir()) == [named], "what is not private is neither used nor removed"


def test_a_folder_of_another_user_is_neither_used_nor_removed(temporary: Path, other_user):
    named = temporary / "headrace-py-named"
    assert other_user(f"mkdir -m 0700 {named}").returncode == 0
    with pytest.raises(NotPrivateError):
        SocketFolder(named)
    folder = socket_folder_of_daemon(str(named))
    assert folder.path != named
    folder.release()
    assert list(temporary.iterdir()) == [named]


def test_a_folder_that_the_user_names_stays(temporary: Path):
    folder = SocketFolder(temporary / "mine")
    folder.release()
    assert [path.name for path in temporary.iterdir()] == ["mine"]


def test_users_that_come_and_go_never_lose_the_folder_under_their_feet(temporary: Path):
    """A socket can be bound in it each time, even if another process removes it at the same time."""
    named = str(temporary / "headrace-py-named")
    processes = [subprocess.Popen([sys.executable, "-c", CONTEND, named], stderr=subprocess.PIPE) for _ in range(3)]
    for process in processes:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said.decode()
    assert list(temporary.iterdir()) == []


def test_who_looked_at_a_folder_that_is_gone_does_not_remove_its_successor(temporary: Path):
    named = temporary / "headrace-py-named"
    named.mkdir(mode=0o700)
    looked = os.open(named, os.O_RDONLY)
    named.rmdir()
    folder = SocketFolder(named)
    _remove_if_unused(named, looked)
    os.close(looked)
    assert named.is_dir()
    folder.release()
