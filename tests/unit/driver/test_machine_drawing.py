"""The picture and the table of the job machine show all that the code says; docs have them as they are."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from xml.etree import ElementTree

from headrace.driver.events import Event
from headrace.driver.machine_drawing import arrows, job_machine
from headrace.driver.reactions import REACTIONS
from headrace.driver.transitions import ENDED, STATUS, TABLE, State, table_text

ROOT = Path(__file__).parents[3]


def make_pictures():
    spec = importlib.util.spec_from_file_location("make_pictures", ROOT / "scripts" / "make_pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date():
    make = make_pictures()
    page = make.JOB_MACHINE_PAGE.read_text(encoding="utf-8")
    assert page == make.job_machine_page(), "run python scripts/make_pictures.py"


def test_the_picture_shows_every_state_and_arrow():
    picture = ElementTree.fromstring(job_machine())
    texts = {element.text for element in picture.iter() if element.tag.endswith("text")}
    assert {state.name for state in State} <= texts
    paths = [element for element in picture.iter() if element.get("class") == "arrow"]
    assert len(paths) == len(arrows())


def test_the_table_is_complete():
    assert set(TABLE) == set(STATUS) == set(State)
    assert {event for row in TABLE.values() for event in row} == set(REACTIONS) == set(Event.__subclasses__())
    reached = {after for row in TABLE.values() for states in row.values() for after in states}
    assert reached == set(State), "each state can be reached (CREATED stays when a request arrives)"
    for end in ENDED:
        assert {after for states in TABLE[end].values() for after in states} == {end}, "the end is the end"


def test_every_state_that_has_not_ended_can_fail_and_be_cancelled():
    from headrace.driver.events import CancelAsked, Failed

    for state in set(State) - {State.CREATED}:
        assert Failed in TABLE[state] and CancelAsked in TABLE[state]


def test_the_table_prints_a_line_for_each_state_and_event():
    assert len(table_text().splitlines()) == 2 + sum(len(row) for row in TABLE.values())
