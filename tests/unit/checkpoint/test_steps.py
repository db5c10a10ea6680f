"""Creation with lost answers: what is known, what is asked again, what stays unknown."""

import pytest

from headrace.checkpoint import instructions as do
from headrace.checkpoint.errors import CheckpointError, OutcomeUnknownError, RecordMissingError, StoreError
from headrace.checkpoint.errors import CheckpointFailureReason as Reason
from headrace.checkpoint.model import Marker
from headrace.checkpoint.steps import create

OURS = Marker("job", 1, 7, "a")
THEIRS = Marker("job", 1, 7, "b")


def play(*answers):
    """Runs `create` against answers in order; errors are raised into it."""
    steps = create("markers/0000000007", OURS)
    asked = [type(next(steps))]
    try:
        for answer in answers:
            move = steps.throw if isinstance(answer, Exception) else steps.send
            asked.append(type(move(answer)))
    except StopIteration as end:
        return end.value, asked
    raise AssertionError("it asks for more")


def test_created():
    assert play(True) == (OURS, [do.Create])


def test_another_was_faster():
    assert play(False, THEIRS) == (THEIRS, [do.Create, do.Read])


def test_a_lost_answer_is_asked_again():
    unknown = OutcomeUnknownError("no answer")
    assert play(unknown, True) == (OURS, [do.Create, do.Create])
    assert play(unknown, False, OURS) == (OURS, [do.Create, do.Create, do.Read])
    assert play(unknown, unknown, False, THEIRS)[0] == THEIRS


def test_a_plain_error_is_passed_on():
    with pytest.raises(StoreError):
        play(StoreError("full"))
    with pytest.raises(StoreError):
        play(False, StoreError("cannot read"))


@pytest.mark.parametrize("then", [StoreError("full"), OutcomeUnknownError("no answer")])
def test_after_a_lost_answer_an_error_does_not_mean_that_nothing_happened(then):
    with pytest.raises(CheckpointError) as error:
        play(OutcomeUnknownError("no answer"), then, then)
    assert error.value.reason is Reason.OUTCOME_UNKNOWN


def test_collected_between_create_and_read():
    assert play(False, RecordMissingError("gone"), True)[0] == OURS
