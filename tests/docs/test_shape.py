"""The shape of the source tree that docs/internals/decisions.md promises."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "headrace"
LONGEST_LOOP = 150


@pytest.fixture(scope="module")
def shape():
    spec = importlib.util.spec_from_file_location("shape", ROOT / "scripts" / "shape.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_file_is_too_long(shape):
    measured = shape.shape(SOURCE)
    assert measured["files over 400 lines"] == 0, measured["largest files"]


def test_files_of_tables_can_be_left_out(shape):
    whole, part = shape.shape(SOURCE), shape.shape(SOURCE, shape.TABLES)
    assert 0 < part["files"] < whole["files"]
    assert 0 < part["lines"] < whole["lines"]


def test_the_loop_of_a_job_is_short():
    assert len((SOURCE / "driver" / "loop.py").read_text().splitlines()) < LONGEST_LOOP


def test_every_room_has_its_place_in_a_contract():
    settings = (ROOT / "pyproject.toml").read_text()
    layered = re.findall(r'containers = \["([\w.]+)"\]\nexhaustive = true', settings)
    assert sorted(layered) == ["headrace", "headrace.service", "headrace.table", "headrace.worker"]
