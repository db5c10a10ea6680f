"""Collected records: held back until a checkpoint covers them, and each is read once, whenever the job fails."""

from __future__ import annotations

import pytest

from headrace.driver.collected_output import CollectedOutput
from headrace.monitoring.progress import ProgressView
from headrace.worker.messages import DriverOutput


@pytest.fixture
def output():
    return CollectedOutput(ProgressView("job", "never"), hold=True)


def take(output, *records):
    output.take([DriverOutput(collected=[("all", list(records))])])


def read(output):
    output.end()
    return list(output.read("all", lambda: None))


def test_records_are_released_by_a_checkpoint(output):
    take(output, 1, 2)
    output.seal()
    output.completed(1)
    take(output, 3)
    assert read(output) == [1, 2], "no checkpoint covers the third one"


def test_without_checkpoints_records_are_released_at_once():
    output = CollectedOutput(ProgressView("job", "never"), hold=False)
    take(output, 1)
    assert read(output) == [1]


@pytest.mark.parametrize(
    ("recovered", "expected"),
    [(4, ["old"]), (5, ["old", "sealed"])],
    ids=["the checkpoint never became durable", "it did"],
)
def test_recovery_decides_what_a_failure_around_a_checkpoint_leaves(output, recovered, expected):
    take(output, "old")
    output.seal()
    output.completed(4)
    take(output, "sealed")
    output.seal()
    take(output, "later")
    output.recovered(recovered)
    assert read(output) == expected


def test_a_checkpoint_that_failed_does_not_count_after_the_next_one(output):
    take(output, 1)
    output.seal()
    take(output, 2)
    output.seal()
    output.recovered(1)
    assert read(output) == [1, 2]


def test_what_was_recovered_once_is_not_released_again(output):
    take(output, 1)
    output.seal()
    output.recovered(1)
    take(output, 2)
    output.recovered(1)
    assert read(output) == [1]
