"""Reading control frames: acknowledgements, output in order, the failure to report."""

from __future__ import annotations

import random

from headrace.common.errors import JobExecutionError, UserCodeError
from headrace.driver.executor import EpochResult, read_frames
from headrace.worker.exchange.frames import ACK, DRIVER_OUTPUT, FAILURE, Header, pack
from headrace.worker.messages import DriverOutput, TaskAck, TaskFailure


def ack(task, attempt):
    message = TaskAck(task, 1, attempt, {}, None, False, ())
    return pack(Header(ACK, *task, *task, 0, attempt), message)


def output(task, attempt, sequence, line):
    message = DriverOutput(printed=[(False, [line])])
    return pack(Header(DRIVER_OUTPUT, *task, *task, sequence, attempt), message)


def failure(task, error):
    return pack(Header(FAILURE, *task, *task, 0, 1), TaskFailure(task, error))


def lines(result):
    return [line for o in result.outputs for _, printed in o.printed for line in printed]


def test_nothing_came_back():
    assert read_frames([]) == EpochResult()
    assert EpochResult().cause is None


def test_frames_are_sorted_by_what_they_are():
    error = JobExecutionError("broken")
    result = read_frames([ack((0, 0), 5), failure((1, 0), error), output((0, 0), 5, 0, "a")])
    assert [a.task for a in result.acks] == [(0, 0)]
    assert [f.task for f in result.failures] == [(1, 0)]
    assert lines(result) == ["a"]


def test_output_comes_by_task_and_in_its_own_order_whatever_the_order_of_frames():
    frames = [ack((0, 1), 1), ack((1, 0), 2), ack((0, 0), 3)]
    frames += [output((1, 0), 2, n, f"second {n}") for n in range(12)]
    frames += [output((0, 1), 1, 0, "first 1"), output((0, 0), 3, 0, "first 0")]
    random.Random(1).shuffle(frames)
    assert lines(read_frames(frames)) == ["first 0", "first 1", *(f"second {n}" for n in range(12))]


def test_output_of_an_attempt_that_did_not_finish_is_left_out():
    frames = [output((0, 0), 1, 0, "of the lost attempt"), output((0, 0), 2, 0, "of the other"), ack((0, 0), 2)]
    assert lines(read_frames(frames)) == ["of the other"]


def test_an_error_of_the_user_is_reported_before_any_other():
    ours, users = JobExecutionError("ours"), UserCodeError("users")
    result = read_frames([failure((0, 0), ours), failure((0, 1), users)])
    assert result.cause.message == "users"
    assert read_frames([failure((0, 0), ours)]).cause.message == "ours"
