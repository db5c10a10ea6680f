"""Fixtures: a folder for disk backends."""

import shutil

import pytest


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    yield
    shutil.rmtree(tmp_path, ignore_errors=True)
