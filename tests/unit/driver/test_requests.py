"""Requests to a running job: every caller gets exactly one answer. How they are served: see test_job_machine."""

from __future__ import annotations

import threading
from collections import deque

import pytest

from headrace.common.errors import JobExecutionError
from headrace.driver.requests import Request, Requests


def test_a_request_is_answered_once():
    request = Request(checkpoint=True)
    request.succeed(7)
    with pytest.raises(AssertionError, match="once"):
        request.fail(JobExecutionError("no"))
    with pytest.raises(AssertionError, match="once"):
        request.succeed(8)
    assert (request.answer, request.error) == (7, None)


def test_who_asks_waits_for_the_answer():
    arrived: deque[Request] = deque()
    answers = []
    requests = Requests(arrived.append)
    thread = threading.Thread(target=lambda: answers.append(requests.ask(Request(parallelism=4))), daemon=True)
    thread.start()
    while not arrived:
        pass
    arrived.popleft().succeed(4)
    thread.join(10)
    assert answers == [4]


def test_who_asks_too_late_is_told_so_at_once():
    requests = Requests(lambda request: request.fail(JobExecutionError("Job 'j' has ended: CANCELED")))
    for ask in (requests.ask, requests.post):
        with pytest.raises(JobExecutionError, match="has ended"):
            ask(Request(checkpoint=True))
