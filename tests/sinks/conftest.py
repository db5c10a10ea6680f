"""Outer systems that real sinks write to: folders, SQLite, a real PostgreSQL server."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from postgres_server import PostgresServer
from sink_kit import KINDS, place


@pytest.fixture
def tmp_path(tmp_path):
    """A folder in memory where there is one: thousands of fsyncs on a slow disk would test the disk."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="headrace-test-", dir=memory) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def postgres():
    """The server, one for all tests."""
    server = PostgresServer()
    yield server
    server.stop()


@pytest.fixture(params=KINDS)
def kind(request):
    """Each kind of sink in turn."""
    return request.param


@pytest.fixture
def url(kind, request):
    """The URL of an empty database, for the kind that needs one."""
    return request.getfixturevalue("postgres").create_database() if kind == "postgres" else None


@pytest.fixture
def outer(kind, tmp_path, url):
    """The place that sinks of this kind write to."""
    return place(kind, tmp_path, url)
