"""What the dispatcher does with a job, by what it finds."""

from __future__ import annotations

import pytest

from headrace.service.dispatcher.supervisor import Action, Facts, decide
from headrace.service.job_folder import Starts

HOUR = 3_600_000
NOW = 100 * HOUR


def facts(**changed):
    known = {
        "now": NOW,
        "ended": False,
        "alive": False,
        "started_here": True,
        "wished_at": None,
        "starts": Starts((NOW - 60_000,)),
        "restart_attempts": 3,
    }
    return Facts(**{**known, **changed})


@pytest.mark.parametrize(
    ("found", "action"),
    [
        (facts(starts=Starts()), Action.START),
        (facts(ended=True), Action.NOTHING),
        (facts(alive=True), Action.NOTHING),
        (facts(), Action.START),
        (facts(wished_at=NOW - 1), Action.CANCELED),
        (facts(wished_at=NOW - 1, starts=Starts()), Action.CANCELED),
        (facts(alive=True, wished_at=NOW - 1_000), Action.NOTHING),
        (facts(alive=True, wished_at=NOW - 60_000), Action.KILL),
        (facts(ended=True, wished_at=NOW - 60_000), Action.NOTHING),
        # another dispatcher started a process a moment ago: it may be about to take its lock
        (facts(started_here=False, starts=Starts((NOW - 1_000,))), Action.NOTHING),
        (facts(started_here=False, starts=Starts((NOW - 11_000,))), Action.START),
        # it waits longer after each crash
        (facts(starts=Starts((NOW - 900,), (NOW - 900,))), Action.NOTHING),
        (facts(starts=Starts((NOW - 1_100,), (NOW - 1_100,))), Action.START),
        (facts(starts=Starts((NOW - 1_900,), (NOW - 9_000, NOW - 2_000))), Action.NOTHING),
        # too often within an hour
        (facts(starts=Starts((NOW - 60_000,), (NOW - 3, NOW - 2, NOW - 1))), Action.FAILED),
        (facts(starts=Starts((NOW - 60_000,), (NOW - 2 * HOUR, NOW - 2, NOW - 1))), Action.START),
    ],
)
def test_decisions(found, action):
    assert decide(found) is action
