"""The pictures that are made from the code are up to date."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def load_script():
    spec = importlib.util.spec_from_file_location("make_pictures", ROOT / "scripts" / "make_pictures.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


SCRIPT = load_script()


@pytest.mark.parametrize("name", sorted(SCRIPT.DRAWN))
def test_picture_is_up_to_date(name):
    committed = (SCRIPT.PICTURES / name).read_text(encoding="utf-8")
    assert committed == SCRIPT.DRAWN[name](), "run python scripts/make_pictures.py"


def test_every_room_has_a_floor():
    rooms = {room for floor in SCRIPT.layers() for room in floor}
    packages = {path.stem for path in (ROOT / "src" / "headrace").iterdir() if not path.stem.startswith(("_", "py"))}
    assert packages <= rooms
