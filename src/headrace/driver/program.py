"""A job as the driver has it: its graph, the plan of its epochs, what is shipped to workers, and what it starts from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from headrace.checkpoint.model import Origin
from headrace.graph.epoch_plan import EpochPlan, build_epoch_plan
from headrace.graph.job_graph import JobGraph
from headrace.graph.rescaling import rescaled
from headrace.worker.job_spec import JobSpec


@dataclass(frozen=True)
class Program:
    """All of it is frozen; another parallelism makes another program of the same job."""

    job_id: str
    graph: JobGraph
    plan: EpochPlan
    spec: JobSpec
    make_spec: Callable[[JobGraph, EpochPlan], JobSpec]
    origin: Origin | None = None
    """A savepoint or checkpoint of another time, from which the job begins."""

    def with_parallelism(self, parallelism: int) -> Program:
        """The same program, cut into another number of subtasks."""
        graph = rescaled(self.graph, parallelism)
        plan = build_epoch_plan(graph)
        return replace(self, graph=graph, plan=plan, spec=self.make_spec(graph, plan))
