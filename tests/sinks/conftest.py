"""Outer systems that real sinks write to: folders, SQLite, real PostgreSQL and MariaDB servers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from mariadb_server import MariaServer
from postgres_server import PostgresServer
from sink_kit import KINDS, SERVERS, place


@pytest.fixture
def tmp_path(memory_path):
    return memory_path


@pytest.fixture(scope="session")
def postgres():
    """The server, one for all tests."""
    server = PostgresServer()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def mariadb():
    """The server, one for all tests."""
    server = MariaServer()
    yield server
    server.stop()


@pytest.fixture(params=KINDS)
def kind(request):
    """Each kind of sink in turn."""
    return request.param


@pytest.fixture
def url(kind, request):
    """The URL of an empty database, for the kind that needs one."""
    return request.getfixturevalue(kind).create_database() if kind in SERVERS else None


@pytest.fixture
def outer(kind, tmp_path, url):
    """The place that sinks of this kind write to."""
    return place(kind, tmp_path, url)
