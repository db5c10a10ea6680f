"""Observe a stream: its records with their timestamps, watermarks and idleness, in order, as events.

`observe` adds an operator to a stream that turns everything that arrives into a record, so that a job can return it like any
other result. The resulting lists of events can be the input of `event_source`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace.datastream import DataStream
from headrace.graph.specs import OperatorSpec
from headrace.graph.transformations import TransformationKind
from headrace.operators.base import Operator
from headrace.operators.output import Timestamps, Values
from headrace.testing.events import Idle, Record, WatermarkTo


def observe(stream: DataStream) -> DataStream:
    """Return a stream of the events of `stream`: `Record`, `WatermarkTo` and `Idle`.

    >>> from headrace.common import Configuration
    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> configuration = Configuration().set_string("headrace.executor", "local")
    >>> env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
    >>> list(observe(env.from_collection([1, 2])).execute_and_collect())
    [Record(value=1, timestamp=None), Record(value=2, timestamp=None), WatermarkTo(timestamp=9223372036854775807)]
    """
    env = stream.get_execution_environment()
    operator = env.registry.add(
        TransformationKind.OPERATOR, (stream.transformation_id,), spec=Observe(), name=Observe.label
    )
    return DataStream(env, operator)


@dataclass(frozen=True)
class Observe(OperatorSpec):
    """The operator behind `observe`."""

    label = "Observe"

    def create_operator(self) -> Operator:
        """Return the running operator."""
        return _ObservingOperator()


class _ObservingOperator(Operator):
    """Emits everything that arrives as records without timestamps."""

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        stamps = timestamps if timestamps is not None else [None] * len(values)
        self.output.emit([Record(v, t) for v, t in zip(values, stamps)], None)

    def process_watermark(self, timestamp: int) -> None:
        self.output.emit([WatermarkTo(timestamp)], None)
        super().process_watermark(timestamp)

    def process_idle(self, idle: bool) -> None:
        self.output.emit([Idle(idle)], None)
        super().process_idle(idle)
