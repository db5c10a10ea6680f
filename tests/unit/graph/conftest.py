"""A short way to write programs for the graph tests: transformations without the user's API."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from headrace.common.watermark_strategy import WatermarkStrategy
from headrace.graph.epoch_plan import EpochPlan, build_epoch_plan
from headrace.graph.job_graph import JobGraph, build_job_graph
from headrace.graph.partitioners import Partitioner
from headrace.graph.specs import Map, SourceSpec
from headrace.graph.stream_graph import GraphSettings, StreamGraph, build_stream_graph
from headrace.graph.transformations import TransformationKind, TransformationRegistry


class Program:
    """Calls of a program; every method gives the id of a transformation."""

    def __init__(self) -> None:
        self.registry = TransformationRegistry()

    def source(self, name: str = "source", **fields: Any) -> int:
        spec = SourceSpec(None, WatermarkStrategy.no_watermarks())
        return self.registry.add(TransformationKind.OPERATOR, (), **{"spec": spec, "name": name, **fields})

    def operator(self, *inputs: int, name: str = "map", **fields: Any) -> int:
        return self.registry.add(TransformationKind.OPERATOR, inputs, **{"spec": Map(str), "name": name, **fields})

    def sink(self, *inputs: int, name: str = "sink", **fields: Any) -> int:
        return self.operator(*inputs, name=name, is_sink=True, **fields)

    def partition(self, stream: int, partitioner: Partitioner) -> int:
        return self.registry.add(TransformationKind.PARTITION, (stream,), partitioner=partitioner)

    def union(self, *streams: int) -> int:
        return self.registry.add(TransformationKind.UNION, streams)

    def side_output(self, stream: int, tag: str) -> int:
        return self.registry.add(TransformationKind.SIDE_OUTPUT, (stream,), output_tag=tag)

    def stream_graph(self, **settings: Any) -> StreamGraph:
        return build_stream_graph(self.registry, GraphSettings(**settings))

    def job_graph(self, **settings: Any) -> JobGraph:
        return build_job_graph(self.stream_graph(**settings))

    def plan(self, **settings: Any) -> tuple[JobGraph, EpochPlan]:
        graph = self.job_graph(**settings)
        return graph, build_epoch_plan(graph)


@pytest.fixture
def program() -> Program:
    return Program()


@pytest.fixture(scope="session")
def new_program() -> type[Program]:
    """For tests that need several programs."""
    return Program


@pytest.fixture
def round_trip():
    """Pickles and unpickles."""
    return lambda value: pickle.loads(pickle.dumps(value, protocol=5))
