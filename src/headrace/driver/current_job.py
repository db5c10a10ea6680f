"""How a job runs at present: its program, which a rescale replaces, and its ledger, which every restart replaces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from headrace.checkpoint.driver import Checkpoints
from headrace.checkpoint.model import Origin
from headrace.driver.ledger import Ledger
from headrace.graph.epoch_plan import EpochPlan, build_epoch_plan
from headrace.graph.job_graph import JobGraph, rescaled
from headrace.state.job_folder import StateFolder
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


class CurrentJob:
    """Shared by everything that performs instructions of one job; changed by the loop's thread only."""

    def __init__(self, program: Program, folder: StateFolder, checkpoints: Checkpoints) -> None:
        self.program = program
        self.restored = False
        """Whether the first epoch since the job was restored is still to come."""
        self.folder = folder
        self._checkpoints = checkpoints
        self.ledger = self.new_ledger(program)

    @property
    def name(self) -> str:
        return self.program.graph.name

    @property
    def state_directory(self) -> str:
        """Where tasks write their files."""
        return self._checkpoints.working_directory or self.folder.path

    @property
    def checkpoint_files(self) -> str:
        """Where the files of the last checkpoint are."""
        return self._checkpoints.files if self._checkpoints.periodic else self.folder.path

    def new_ledger(self, program: Program) -> Ledger:
        """Return a ledger that has seen nothing yet."""
        return Ledger(program.job_id, program.graph, program.plan, self.state_directory)

    def restart_from(self, origin: Origin) -> None:
        """Let the next restart begin at this checkpoint."""
        self.program = replace(self.program, origin=origin)
