"""What a user's committer may answer, and what follows from it."""

from __future__ import annotations

import logging

import pytest

from headrace.connectors.base.commit_requests import RETRIES, CommitFailedError, CommitRequest, commit_all
from headrace.connectors.base.driver_side import DriverContext


def rounds(requests, commit):
    """The committables of each call, and the pauses between them."""
    calls, pauses = [], []

    def wrapped(asked):
        calls.append([r.get_committable() for r in asked])
        commit(asked)

    commit_all(requests, wrapped, sleep=pauses.append)
    return calls, pauses


def test_without_an_answer_all_is_committed():
    assert rounds([CommitRequest("a"), CommitRequest("b")], lambda asked: None) == ([["a", "b"]], [])


def test_only_those_that_ask_come_again():
    def commit(asked):
        for request in asked:
            if request.get_committable() == "b" and request.get_number_of_retries() < 2:
                request.retry_later()

    calls, pauses = rounds([CommitRequest("a"), CommitRequest("b"), CommitRequest("c")], commit)
    assert calls == [["a", "b", "c"], ["b"], ["b"]]
    assert pauses == sorted(pauses)
    assert len(pauses) == 2


def test_a_committable_can_be_changed():
    def commit(asked):
        if asked[0].get_committable() == [1, 2]:
            asked[0].update_and_retry_later([2])

    assert rounds([CommitRequest([1, 2])], commit)[0] == [[[1, 2]], [[2]]]


def test_there_is_an_end_to_trying():
    requests = [CommitRequest("a")]
    calls = []

    def commit(asked):
        calls.append(asked)
        asked[0].retry_later()

    with pytest.raises(CommitFailedError, match="1 of 1"):
        rounds(requests, commit)
    assert len(calls) == RETRIES + 1
    assert requests[0].waiting, "the next driver tries again"


def test_already_committed_counts_as_committed():
    assert rounds([CommitRequest("a")], lambda asked: asked[0].signal_already_committed())[0] == [["a"]]


def test_a_known_reason_gives_up(caplog):
    with caplog.at_level(logging.ERROR, "headrace"):
        calls, _ = rounds([CommitRequest("a")], lambda asked: asked[0].signal_failed_with_known_reason(OSError("old")))
    assert calls == [["a"]]
    assert "'a' is given up" in caplog.text
    assert "old" in caplog.text


def test_an_unknown_reason_fails_and_the_rest_is_not_done_twice():
    requests = [CommitRequest("a"), CommitRequest("b")]

    def fail(asked):
        asked[1].signal_failed_with_unknown_reason(OSError("what?"))

    with pytest.raises(OSError, match="what?"):
        rounds(requests, fail)
    assert rounds(requests, lambda asked: None)[0] == [["b"]]


def test_an_exception_leaves_all_to_be_done_again():
    requests = [CommitRequest("a"), CommitRequest("b")]

    def fail(asked):
        raise OSError("away")

    with pytest.raises(OSError, match="away"):
        rounds(requests, fail)
    assert rounds(requests, lambda asked: None)[0] == [["a", "b"]]


def test_the_driver_is_no_subtask():
    context = DriverContext("0" * 32, "sink")
    assert context.get_index_of_this_subtask() == -1
    with pytest.raises(Exception, match="get_state is not available in the driver"):
        context.get_state(None)
    assert not hasattr(context, "nonsense")
