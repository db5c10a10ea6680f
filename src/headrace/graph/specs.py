"""Operator definitions as frozen data: one class per kind, with the user's function and nothing that runs.

`headrace.datastream` creates specs; `headrace.operators.factory` creates the running operator for each of them. A spec is
pickled once per vertex and loaded once per subtask, so every subtask has its own function objects, like in Flink.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from headrace.common.watermark_strategy import WatermarkStrategy
from headrace.graph.cep_pattern import PatternData
from headrace.types.typeinfo import TypeInformation


@dataclass(frozen=True)
class OperatorSpec:
    """Base of all specs. `label` is the operator's default name in the plan, like Flink's."""

    label: ClassVar[str] = "Operator"


@dataclass(frozen=True)
class SourceSpec(OperatorSpec):
    """Reads a source. `source` is a `headrace.connectors.Source`; `strategy` creates per-split watermarks."""

    source: Any
    strategy: WatermarkStrategy
    label = "Source"


@dataclass(frozen=True)
class Map(OperatorSpec):
    """One result per record: `func` is a MapFunction or a callable."""

    func: Any
    label = "Map"


@dataclass(frozen=True)
class FlatMap(OperatorSpec):
    """Any number of results per record: `func` returns or yields them (or returns None)."""

    func: Any
    label = "Flat Map"


@dataclass(frozen=True)
class Filter(OperatorSpec):
    """Keeps the records for which `func` is true."""

    func: Any
    label = "Filter"


@dataclass(frozen=True)
class MapColumns(OperatorSpec):
    """Replaces columns, row by row: `taken` and `given` convert rows to columns and back."""

    func: Any
    taken: Any
    given: Any
    label = "Map Columns"


@dataclass(frozen=True)
class FilterColumns(OperatorSpec):
    """Keeps the rows for which `func` returns true, for a run of rows at once."""

    func: Any
    taken: Any
    label = "Filter Columns"


@dataclass(frozen=True)
class KeyedReduce(OperatorSpec):
    """Running reduce per key; in batch mode only the final value per key is emitted."""

    func: Any
    label = "Keyed Reduce"


@dataclass(frozen=True)
class Process(OperatorSpec):
    """A ProcessFunction, or on a keyed stream a KeyedProcessFunction."""

    func: Any
    keyed: bool
    label = "Process"


@dataclass(frozen=True)
class CoMap(OperatorSpec):
    """map1 / map2 of a CoMapFunction on two connected inputs."""

    func: Any
    label = "Co-Map"


@dataclass(frozen=True)
class CoFlatMap(OperatorSpec):
    """flat_map1 / flat_map2 of a CoFlatMapFunction on two connected inputs."""

    func: Any
    label = "Co-Flat Map"


@dataclass(frozen=True)
class CoProcess(OperatorSpec):
    """A CoProcessFunction, or on keyed inputs a KeyedCoProcessFunction."""

    func: Any
    keyed: bool
    label = "Co-Process"


@dataclass(frozen=True)
class BroadcastProcess(OperatorSpec):
    """A (Keyed)BroadcastProcessFunction: input 1 are the elements, input 2 the broadcast elements."""

    func: Any
    keyed: bool
    descriptors: tuple[Any, ...]
    label = "Co-Process-Broadcast"


@dataclass(frozen=True)
class WindowOperation(OperatorSpec):
    """Windows over a keyed stream, and the function that is called for each of them.

    `kind` is how elements are kept: "list", or combined by `combiner` as "reduce" or "aggregate". When a window fires,
    `function` is called by its method `apply` or `process` (`calls`); None emits the contents as they are. `over_all`
    marks windows over a stream without keys: their functions receive no key.
    """

    assigner: Any
    trigger: Any
    kind: str
    combiner: Any = None
    function: Any = None
    calls: str = ""
    evictor: Any = None
    allowed_lateness: int = 0
    late_tag: str | None = None
    over_all: bool = False
    combines_early: bool = False
    """Whether records of a key may be combined before the exchange without changing any result."""
    takes_runs: bool = False
    """Whether that is done, so that the input comes from a `LocalWindowAggregate`."""
    label = "Window"


@dataclass(frozen=True)
class LocalWindowAggregate(OperatorSpec):
    """Combines the records of a key and pane before the exchange to the operator of `windows`.

    `selector` returns the key of a record; records are first converted to `input_type`, like in the exchange.
    """

    windows: WindowOperation
    selector: Callable[[Any], Any]
    input_type: TypeInformation | None = None
    label = "Local Window Aggregate"


@dataclass(frozen=True)
class WindowCoGroup(WindowOperation):
    """Elements of two keyed inputs by key and window.

    `calls` is "co_group" (the function gets both groups), "join" (every pair, one result) or "flat_join" (every pair, any
    number of results).
    """

    label = "CoGroup"


@dataclass(frozen=True)
class IntervalJoin(OperatorSpec):
    """Pairs of two keyed inputs with close timestamps: left + lower <= right <= left + upper, in milliseconds."""

    function: Any
    lower: int
    upper: int
    left_late_tag: str | None = None
    right_late_tag: str | None = None
    label = "Interval Join"


@dataclass(frozen=True)
class AsyncWait(OperatorSpec):
    """An AsyncFunction; `ordered` keeps the order of the elements."""

    function: Any
    ordered: bool
    timeout: int
    capacity: int
    retry: Any = None
    label = "async wait operator"


@dataclass(frozen=True)
class AssignTimestamps(OperatorSpec):
    """Assigns event timestamps and creates watermarks in the middle of a stream."""

    strategy: WatermarkStrategy
    label = "Timestamps/Watermarks"


@dataclass(frozen=True)
class FunctionSink(OperatorSpec):
    """A Python SinkFunction: `invoke(value, context)` per record, after conversion to `input_type`."""

    func: Any
    input_type: TypeInformation | None = None
    label = "Sink"


@dataclass(frozen=True)
class StagedSink(OperatorSpec):
    """A `headrace.connectors.base.sink.Sink`: stages its output in the task, and the driver commits it with a checkpoint."""

    sink: Any
    input_type: TypeInformation | None = None
    steps: tuple[str, ...] = ()
    """The nodes in plans for a sink of `sink_to`, like Flink's: the writer, and the committer if there is one."""
    label = "Sink"


@dataclass(frozen=True)
class PrintSink(OperatorSpec):
    """Lines on the driver's standard output (or error), with Flink's prefix."""

    identifier: str | None = None
    stderr: bool = False
    input_type: TypeInformation | None = None
    label = "Print to Std. Out"


@dataclass(frozen=True)
class FeedbackSink(OperatorSpec):
    """The end of a loop: records return to the source of the iteration `feedback_id`."""

    feedback_id: str
    input_type: TypeInformation | None = None
    label = "Iteration sink"


@dataclass(frozen=True)
class CollectSink(OperatorSpec):
    """Sends the records to the driver under `collect_id`, for `execute_and_collect`."""

    collect_id: str
    input_type: TypeInformation | None = None
    label = "Collect"


@dataclass(frozen=True)
class CacheSink(OperatorSpec):
    """Sends the records with their timestamps to the driver under `collect_id`, for a cached stream."""

    collect_id: str
    input_type: TypeInformation | None = None
    label = "CacheWrite"


@dataclass(frozen=True)
class Cep(OperatorSpec):
    """Finds a pattern. `func` has `process_match`, and `process_timed_out_match` to receive timed-out partial matches.

    `comparator` orders events with equal timestamps; `late_tag` is the id of the side output for late events.
    """

    pattern: PatternData
    func: Any
    event_time: bool = True
    comparator: Any = None
    late_tag: str | None = None
    label = "CepOperator"
