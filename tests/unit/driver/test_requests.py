"""Requests to a running job: one is worked on at a time, and each gets exactly one answer."""

from __future__ import annotations

import threading

import pytest

from headrace.common.errors import JobExecutionError
from headrace.driver.requests import Request, Requests


@pytest.fixture
def requests():
    return Requests()


def posted(requests, **what):
    request = Request(**what)
    requests.post(request)
    return request


def test_the_oldest_is_worked_on_until_it_is_answered(requests):
    first, second = posted(requests, parallelism=2), posted(requests, checkpoint=True)
    assert requests.next() is first
    assert requests.next() is first
    first.succeed(2)
    assert requests.next() is second
    second.succeed(1)
    assert requests.next() is None


def test_a_failure_of_the_job_answers_what_is_in_work(requests):
    stop, later = posted(requests, savepoint=True, stop=True), posted(requests, parallelism=3)
    assert requests.next() is stop
    requests.job_failed(JobExecutionError("the disk is full"))
    assert "stop with a savepoint failed because the job failed: the disk is full" in str(stop.error)
    assert not later.done.is_set()
    assert requests.next() is later, "a rescale that had not begun is served after the restart"


def test_a_failure_of_the_job_refuses_savepoints_that_wait(requests):
    rescale, savepoint = posted(requests, parallelism=3), posted(requests, savepoint=True)
    assert requests.next() is rescale
    requests.job_failed(JobExecutionError("no"))
    assert "rescale to parallelism 3 failed" in str(rescale.error)
    assert "savepoint failed" in str(savepoint.error)
    assert requests.next() is None


def test_a_failure_does_not_answer_twice(requests):
    request = posted(requests, checkpoint=True)
    requests.next()
    request.succeed(7)
    requests.job_failed(JobExecutionError("no"))
    requests.close("The job has ended")
    assert (request.answer, request.error) == (7, None)
    with pytest.raises(AssertionError, match="once"):
        request.fail(JobExecutionError("no"))


def test_the_end_of_the_job_answers_all(requests):
    asked = [posted(requests, parallelism=2), posted(requests, savepoint=True), posted(requests, checkpoint=True)]
    requests.next()
    requests.close("Job 'j' has ended: CANCELED")
    assert ["CANCELED" in str(r.error) for r in asked] == [True] * 3
    with pytest.raises(JobExecutionError, match="has ended"):
        requests.ask(Request(checkpoint=True))


def test_who_asks_waits_for_the_answer(requests):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(requests.ask(Request(parallelism=4))), daemon=True)
    thread.start()
    while (request := requests.next()) is None:
        pass
    request.succeed(4)
    thread.join(10)
    assert answers == [4]
