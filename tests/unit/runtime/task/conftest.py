"""What the tests of the task package share: operators in made-up surroundings, and jobs of the user's API as specs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from headrace.graph.epoch_plan import build_epoch_plan
from headrace.graph.specs import Map, OperatorSpec
from headrace.operators.base import Operator
from headrace.operators.clock import ManualClock
from headrace.operators.context import OperatorContext, TaskInfo
from headrace.operators.factory import create_operator
from headrace.runtime.task.driver_output import DriverOutputBuffer
from headrace.runtime.task.frames import Header, unpack
from headrace.runtime.task.job_spec import JobSpec, make_job_spec
from headrace.state.heap import HeapKeyedBackend
from headrace.state.operator_state import OperatorStateBackend


class Sent:
    """A `send` that keeps what it is given."""

    def __init__(self) -> None:
        self.addressed: list[tuple[int, int, bytes]] = []

    def __call__(self, level: int, partition: int, frame: bytes) -> None:
        self.addressed.append((level, partition, frame))

    @property
    def frames(self) -> list[bytes]:
        return [frame for _, _, frame in self.addressed]

    @property
    def unpacked(self) -> list[tuple[Header, Any]]:
        return [unpack(frame) for frame in self.frames]

    def of_kind(self, kind: int) -> list[Any]:
        """The payloads of all frames of a kind."""
        return [payload for header, payload in self.unpacked if header.kind == kind]


@pytest.fixture
def sent() -> Sent:
    return Sent()


@pytest.fixture(scope="session")
def make_context() -> Callable[..., OperatorContext]:
    """Makes the surroundings of an operator."""

    def make(
        operator_id: str = "op", *, subtask: int = 0, parallelism: int = 1, batch: bool = False
    ) -> OperatorContext:
        task = TaskInfo("0" * 32, "job", "vertex", subtask, parallelism, 128, 0, batch=batch)
        return OperatorContext(
            task, operator_id, f"name of {operator_id}", f"uid of {operator_id}", HeapKeyedBackend(128, range(128)),
            OperatorStateBackend(), ManualClock(), DriverOutputBuffer(),
        )  # fmt: skip

    return make


@pytest.fixture(scope="session")
def make_operator(make_context) -> Callable[..., Operator]:
    """Makes an operator that is set up and opened."""

    def make(spec: OperatorSpec | None = None, **context: Any) -> Operator:
        operator = create_operator(spec or Map(str))
        operator.setup(make_context(**context))
        operator.open()
        return operator

    return make


@pytest.fixture(scope="session")
def spec_of() -> Callable[..., JobSpec]:
    """The job of an environment as its workers get it."""

    def make(env: Any, job_id: str = "f" * 32) -> JobSpec:
        graph = env.get_job_graph("job")
        return make_job_spec(job_id, graph, build_epoch_plan(graph), watermark_records=1000, job_parameters={})

    return make
