"""What the tests of the task package share: operators in made-up surroundings, and jobs of the user's API as specs."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest

from headrace.datastream import StreamExecutionEnvironment
from headrace.driver.enumerators import Enumerators
from headrace.driver.executor import EpochResult, read_frames
from headrace.driver.ledger import Ledger
from headrace.graph.epoch_plan import build_epoch_plan
from headrace.graph.specs import CollectSink, Map, OperatorSpec
from headrace.operators.base import Operator
from headrace.operators.clock import ManualClock
from headrace.operators.context import OperatorContext, TaskInfo
from headrace.operators.factory import create_operator
from headrace.state.heap import HeapKeyedBackend
from headrace.state.operator_state import OperatorStateBackend
from headrace.worker.exchange.frames import DATA, Header, header_of, unpack
from headrace.worker.job_spec import make_job_spec
from headrace.worker.slot.host import TaskHost
from headrace.worker.task.driver_output import DriverOutputBuffer


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


class Epochs:
    """The epoch loop in small: a ledger, one host for all tasks, and whatever a test wants to disturb between them."""

    def __init__(self, env: Any, directory: Any, *, shuffled: random.Random | None = None) -> None:
        graph = env.get_job_graph("job")
        plan = build_epoch_plan(graph)
        self.spec = make_job_spec("f" * 32, graph, plan, watermark_records=1000, job_parameters={}, close_seconds=10.0)
        self.ledger = Ledger("f" * 32, graph, plan, str(directory))
        Enumerators(graph).discover(self.ledger)
        self.host = TaskHost(self.spec)
        self.epoch = 0
        self.result = EpochResult()
        self.frames: list[bytes] = []
        self._attempts = itertools.count(1)
        self._shuffled = shuffled

    def attempt(self, limit: int = 100) -> EpochResult:
        """Runs an epoch that does not count yet; a failure ends it, as it does with the executors."""
        order = self.ledger.order(self.epoch + 1, limit, None, 0)
        inbox: dict[tuple[int, int], list[bytes]] = defaultdict(list)
        control: list[bytes] = []
        self.frames = []

        def send(level: int, partition: int, frame: bytes) -> None:
            self.frames.append(frame)
            (inbox[level, partition] if header_of(frame).kind == DATA else control).append(frame)

        for task_id in sorted(order.tasks):
            frames = inbox.pop(task_id, [])
            if self._shuffled is not None:
                self._shuffled.shuffle(frames)
            if not self.host.run(order, task_id, next(self._attempts), frames, send):
                break
        self.result = read_frames(control)
        return self.result

    def run(self, limit: int = 100) -> EpochResult:
        """Runs an epoch and takes it in."""
        order = self.ledger.order(self.epoch + 1, limit, None, 0)
        result = self.attempt(limit)
        if result.cause is not None:
            raise result.cause
        assert self.ledger.check(order, result.acks) is None
        self.ledger.apply(result.acks)
        self.epoch += 1
        return result

    def run_to_end(self, limit: int = 100) -> list[Any]:
        """Runs all epochs; gives what was collected."""
        values = []
        while not self.ledger.ended:
            values += self.collected(self.run(limit))
        return values

    def lose_processes(self) -> None:
        """What a new slot process finds: nothing but the files."""
        self.host = TaskHost(self.spec)

    @staticmethod
    def collected(result: EpochResult) -> list[Any]:
        return [v for output in result.outputs for _, values in output.collected for v in values]


@pytest.fixture
def epochs(tmp_path) -> Callable[..., Epochs]:
    """Makes the loop for an environment."""
    return lambda env, **options: Epochs(env, tmp_path, **options)


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)


@pytest.fixture(scope="session")
def collect() -> Callable[..., None]:
    """Ends a stream in a sink whose records the test gets to see."""

    def end(stream: Any) -> None:
        parallelism = stream.transformation.parallelism
        sink = stream._sink(CollectSink("collected", stream.transformation.output_type), "collect")
        stream._env.registry.update(sink.transformation_id, parallelism=parallelism)

    return end
