"""The page of the job machine has the table of the code, and its picture every state and arrow."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from headrace.driver.transitions import State

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    yield importlib.import_module
    for name in ("make_pictures", "job_machine_picture"):
        sys.modules.pop(name, None)


def test_the_page_is_up_to_date(script):
    make = script("make_pictures")
    page = make.JOB_MACHINE_PAGE.read_text(encoding="utf-8")
    assert page == make.job_machine_page(), "run python scripts/make_pictures.py"


def test_the_picture_shows_every_state_and_arrow(script):
    picture = script("job_machine_picture")
    drawn = ElementTree.fromstring(picture.job_machine())
    texts = {element.text for element in drawn.iter() if element.tag.endswith("text")}
    assert {state.name for state in State} <= texts
    assert len([element for element in drawn.iter() if element.get("class") == "arrow"]) == len(picture.arrows())
