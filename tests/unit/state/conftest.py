"""Fixtures: keyed backends of every kind."""

import shutil

import pytest
from tests.unit.state.backends import KINDS, make_backend


@pytest.fixture(params=KINDS)
def new_backend(request, tmp_path, monkeypatch):
    """Makes backends of one kind, which are closed after the test."""
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    made = []

    def make(groups=128, key_groups=None):
        made.append(make_backend(request.param, groups, key_groups))
        return made[-1]

    yield make
    for backend in made:
        backend.close()
    shutil.rmtree(tmp_path, ignore_errors=True)
