"""How many slots of which executors are in use."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headrace.driver.executor import ExecutorView
from headrace.monitoring.job_view import SubtaskView, VertexView, blank_view
from headrace.service.rest.task_managers import task_managers_of


class Job:
    """A job as the routes see it."""

    job_id = "0" * 32

    def __init__(self, executors, *vertices):
        self._executors, self._vertices = executors, vertices

    def executors(self):
        return [ExecutorView(str(number), host, 1, slots) for number, (host, slots) in enumerate(self._executors)]

    def view(self):
        vertices = tuple(
            VertexView(
                f"v{number}", "v", len(tasks), 128, (), tuple(SubtaskView(i, 0, *task) for i, task in enumerate(tasks))
            )
            for number, tasks in enumerate(self._vertices)
        )
        return replace(blank_view(self.job_id, "job", "RUNNING", 0), vertices=vertices)


def running(host, status="RUNNING"):
    return host, 1, status, 0, -1


@pytest.mark.parametrize(
    ("executors", "vertices", "used"),
    [
        pytest.param([("a", 2)], [[running("a")] * 2, [running("a")] * 2], [2], id="two vertices share slots"),
        pytest.param([("a", 2), ("a", 2)], [[running("a")] * 4], [2, 2], id="two executors of one host"),
        pytest.param(
            [("127.0.0.1", 1), ("127.0.0.1", 1)], [[running("vm")] * 2], [1, 1], id="another name of the host"
        ),
        pytest.param([("a", 2), ("b", 2)], [[running("a"), running("b")]], [1, 1], id="two hosts"),
        pytest.param([("a", 2), ("a", 2)], [[running("", "DEPLOYING")] * 4], [0, 0], id="not deployed yet"),
        pytest.param([("a", 2)], [[running("a", "FINISHED"), running("a")]], [1], id="one has ended"),
        pytest.param([("a", 1)], [[running("a")] * 4], [1], id="more subtasks than slots"),
        pytest.param([], [[running("", "DEPLOYING")] * 4], [], id="no executor"),
    ],
)
def test_slots_in_use(executors, vertices, used):
    shown = task_managers_of(Job(executors, *vertices), 0)
    assert [manager["slotsNumber"] - manager["freeSlots"] for manager in shown] == used
