"""The program of a job: its graph, the plan of its epochs, what is shipped to workers, and what it starts from."""

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
    """A frozen program. Another parallelism makes another program of the same job."""

    job_id: str
    graph: JobGraph
    plan: EpochPlan
    spec: JobSpec
    make_spec: Callable[[JobGraph, EpochPlan], JobSpec]
    origin: Origin | None = None
    """The savepoint or checkpoint that the job begins from."""

    def with_parallelism(self, parallelism: int) -> Program:
        """Return the same program with another number of subtasks."""
        graph = rescaled(self.graph, parallelism)
        plan = build_epoch_plan(graph)
        return replace(self, graph=graph, plan=plan, spec=self.make_spec(graph, plan))
