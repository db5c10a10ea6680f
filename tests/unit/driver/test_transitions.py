"""The table of the job machine: complete, and without a way out of the end."""

from __future__ import annotations

from headrace.driver.events import CancelAsked, Event, Failed
from headrace.driver.reactions import REACTIONS
from headrace.driver.transitions import ENDED, STATUS, TABLE, State, table_text


def test_the_table_is_complete():
    assert set(TABLE) == set(STATUS) == set(State)
    assert {event for row in TABLE.values() for event in row} == set(REACTIONS) == set(Event.__subclasses__())


def test_every_state_is_reached_and_the_end_is_the_end():
    reached = {
        after for state, row in TABLE.items() for states in row.values() for after in states if after is not state
    }
    assert reached == set(State) - {State.CREATED}
    for end in ENDED:
        assert {after for states in TABLE[end].values() for after in states} == {end}


def test_every_started_job_can_fail_and_be_cancelled():
    for state in set(State) - {State.CREATED}:
        assert Failed in TABLE[state] and CancelAsked in TABLE[state]


def test_the_table_prints_a_line_for_each_state_and_event():
    assert len(table_text().splitlines()) == 2 + sum(len(row) for row in TABLE.values())
