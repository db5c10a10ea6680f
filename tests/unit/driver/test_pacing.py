"""The pace of the loop: longer pauses the longer nothing comes, but never beyond the next timer."""

from __future__ import annotations

import pytest

from headrace.config.runtime_settings import RuntimeSettings
from headrace.driver.pacing import Pacing


@pytest.fixture
def pacing():
    return Pacing(RuntimeSettings(idle_poll=0.1), bounded=False, monotonic=lambda: 5.0)


def test_there_is_no_pause_while_records_come(pacing):
    pacing.observe([0, 3], [])
    assert pacing.pause(None) is None


def test_pauses_grow_up_to_a_limit_and_begin_again(pacing):
    pauses = []
    for _ in range(30):
        pacing.observe([0, 0], [])
        pauses.append(pacing.pause(None))
    assert pauses == sorted(pauses) and pauses[0] == pytest.approx(0.11) and pauses[-1] == pytest.approx(0.4)
    pacing.observe([1], [])
    pacing.observe([0], [])
    assert pacing.pause(None) == pauses[0]


def test_a_pause_ends_with_the_next_timer(pacing):
    pacing.observe([], [])
    assert (pacing.pause(0.02), pacing.pause(-3.0), pacing.pause(60.0)) == (0.02, 0.0, pytest.approx(0.11))


def test_bounded_jobs_have_longer_epochs():
    options = RuntimeSettings()
    assert Pacing(options, bounded=True).target > Pacing(options, bounded=False).target
