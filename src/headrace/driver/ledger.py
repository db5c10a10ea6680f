"""The ledger: what the driver knows between epochs. Versions and state files of tasks, splits and positions, watermarks.

`order` makes the next epoch's orders from it. `apply` records an epoch's acknowledgements, after `check` has found them
complete and consistent. The ledger does no I/O: `headrace.driver.enumerators` finds splits, the ledger records which splits
exist, where they stand and which subtask has them.

A ledger always knows which files hold the state of its tasks. Between a checkpoint and the next epoch (`settled`) these are
the files that `stands_on` names. Once an epoch has run, each task has files of its own that hold everything it inherited.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from headrace.checkpoint.model import Committable, Origin
from headrace.common.watermark_strategy import MIN_TIMESTAMP
from headrace.connectors.base.split_enumerator import Split, SplitProgress
from headrace.connectors.feedback import FeedbackSource, Returned
from headrace.driver.source_splits import SourceSplits
from headrace.graph.epoch_plan import EpochPlan
from headrace.graph.job_graph import JobGraph
from headrace.graph.specs import SourceSpec
from headrace.operators.source import ReadBudget, SplitPosition
from headrace.state.files import StateFile
from headrace.worker import messages


class Ledger:
    """The driver's records of one job."""

    def __init__(self, job_id: str, graph: JobGraph, plan: EpochPlan, state_directory: str) -> None:
        self._job_id = job_id
        self._graph = graph
        self._plan = plan
        self._state_directory = state_directory
        self.restarts = 0
        self.reports: dict[tuple[str, int], messages.VertexReport] = {}
        self.obsolete: list[StateFile] = []
        """State files that no task needs any more; the loop deletes them."""
        self.stands_on: Origin | None = None
        """The last checkpoint or savepoint that holds all tasks; None if the job started without one."""
        self.settled = True
        """Whether no epoch has run since `stands_on`: it holds all state, and names everything that is staged."""
        self._versions: dict[messages.TaskId, int | None] = {}
        self._files: dict[messages.TaskId, tuple[StateFile, ...]] = {}
        self._ended: set[messages.TaskId] = set()
        self._sources: dict[str, SourceSpec] = {}
        self._splits: dict[str, SourceSplits] = {}
        self._inheritance: dict[messages.TaskId, messages.Inheritance] = {}
        self._handles: list[Committable] = []
        self._feedback: dict[str, FeedbackSource] = {}
        """The sources of iterations."""
        self._loops: dict[tuple[str, int], SplitPosition] = {}
        """What the subtasks of these sources emit next."""
        for level in plan.levels:
            for partition in range(level.partitions):
                self._versions[level.index, partition] = None
        for vertex in graph.vertices.values():
            spec = vertex.head.spec
            if isinstance(spec, SourceSpec):
                self._sources[vertex.id] = spec
                if isinstance(spec.source, FeedbackSource):
                    self._feedback[vertex.id] = spec.source
                    self._loops |= {(vertex.id, i): SplitPosition(spec.source.split) for i in range(vertex.parallelism)}
                else:
                    self._splits[vertex.id] = SourceSplits(spec.source, vertex.parallelism, len(self._splits))

    @property
    def bounded(self) -> bool:
        """Whether all sources end."""
        return all(spec.source.bounded for spec in self._sources.values())

    @property
    def ended(self) -> bool:
        """Whether every task has seen the end of its input."""
        return len(self._ended) == len(self._versions)

    def order(
        self,
        epoch: int,
        limit: int,
        seconds: float | None,
        clock: int | None = None,
        checkpoint: messages.CheckpointOrder = messages.NO_CHECKPOINT,
        drain: bool = False,
    ) -> messages.EpochOrder:
        for vertex, splits in self._splits.items():
            splits.assign(self._ended_subtasks(vertex))
        tasks = {
            task: messages.TaskOrder(
                version,
                self._files.get(task, ()),
                self._inheritance.get(task),
                self._source_orders(task, limit, seconds),
            )
            for task, version in self._versions.items()
            if task not in self._ended
        }
        return messages.EpochOrder(
            self._job_id,
            epoch,
            self.restarts,
            self._state_directory,
            tasks,
            clock=clock,
            checkpoint=checkpoint,
            drain=drain,
        )

    # -- splits -----------------------------------------------------------------------------------------------------

    @property
    def enumerated(self) -> set[str]:
        """The sources whose first splits are known."""
        return {vertex for vertex, splits in self._splits.items() if splits.enumerated}

    def split_progress(self, vertex: str) -> SplitProgress:
        """Return what is known of the splits of a source."""
        return self._splits[vertex].progress

    def add_splits(self, vertex: str, splits: list[Split], more: bool) -> None:
        """Record new splits of a source. `more`: others can follow, so that no subtask of it may end for lack of splits."""
        self._splits[vertex].add(splits, more)

    def has_ended(self, vertex: str) -> bool:
        """Say whether all subtasks of a vertex have reported their end."""
        return all(self._ended_subtasks(vertex))

    def _ended_subtasks(self, vertex: str) -> list[bool | None]:
        """Return which subtasks of a vertex have ended; None for those that have not reported yet."""
        reports = [self.reports.get((vertex, i)) for i in range(self._graph.vertices[vertex].parallelism)]
        return [None if report is None else report.ended for report in reports]

    # -- what a checkpoint is made of, and what a job starts from ---------------------------------------------------

    @property
    def tasks(self) -> list[messages.TaskOwner]:
        """The tasks that take part in the next epoch."""
        return [self.owner(task) for task in self._versions if task not in self._ended]

    @property
    def files(self) -> dict[messages.TaskOwner, tuple[StateFile, ...]]:
        """The state files of each task, by the vertex and subtask that own them.

        A task that inherits has none until its first epoch has run: its state is in `stands_on`.
        """
        assert not self._inheritance, "the state of tasks that have not run yet is where `stands_on` says"
        return {self.owner(task): files for task, files in self._files.items()}

    @property
    def positions(self) -> dict[str, list[SplitPosition]]:
        """The splits of each source that has been enumerated, with their positions and the subtasks that have them."""
        positions = {vertex: splits.positions for vertex, splits in self._splits.items() if splits.enumerated}
        for (vertex, subtask), loop in self._loops.items():
            positions.setdefault(vertex, []).append(replace(loop, subtask=subtask))
        return positions

    def owner(self, task: messages.TaskId) -> messages.TaskOwner:
        """Return the first vertex of a task, and its subtask."""
        group, subtask = self._plan.levels[task[0]].locate(task[1])
        return group.vertices[0], subtask

    def take_handles(self) -> list[Committable]:
        """Return what sinks have staged since the last call, with the ids of their operators."""
        handles, self._handles = self._handles, []
        return handles

    def give_back(self, handles: list[Committable]) -> None:
        """Undo `take_handles`: the checkpoint that should have committed them failed."""
        self._handles = [*handles, *self._handles]

    def settle(self, origin: Origin) -> None:
        """Note that a checkpoint of everything in the ledger is complete."""
        self.stands_on, self.settled = origin, True

    def start_from(
        self,
        origin: Origin | None,
        files: dict[messages.TaskOwner, tuple[StateFile, ...]],
        inheritance: dict[messages.TaskOwner, messages.Inheritance],
        positions: dict[str, list[SplitPosition]],
    ) -> None:
        """Continue where another ledger stopped: tasks restore from files, or inherit; sources continue."""
        self.stands_on = origin
        for task in self._versions:
            owner = self.owner(task)
            if owner in files:
                self._files[task] = files[owner]
            elif owner in inheritance:
                self._inheritance[task] = inheritance[owner]
        for vertex, splits in positions.items():
            if vertex in self._feedback:
                self._hand_on(vertex, splits)
            elif vertex in self._splits:
                self._splits[vertex].restore(splits, as_they_were=any(owner == vertex for owner, _ in files))

    def _hand_on(self, vertex: str, loops: list[SplitPosition]) -> None:
        """Hand the records of an iteration to its subtasks by number; those of one old subtask stay together."""
        parallelism = self._graph.vertices[vertex].parallelism
        shares: list[list[Returned]] = [[] for _ in range(parallelism)]
        for number, loop in enumerate(loops):
            if loop.position is not None:
                shares[(number if loop.subtask is None else loop.subtask) % parallelism].append(loop.position)
        quiet = bool(loops) and all(p.position is not None and p.position.quiet for p in loops)
        over = bool(loops) and all(p.finished for p in loops)
        for subtask, share in enumerate(shares):
            runs = [run for returned in share for run in returned.runs]
            self._loops[vertex, subtask] = SplitPosition(FeedbackSource.split, Returned(runs, quiet), over)

    def check(self, order: messages.EpochOrder, acks: list[messages.TaskAck]) -> str | None:
        """Return why the acknowledgements are inconsistent; None if they are consistent.

        Every task must have acknowledged once, and readers of a task's frames must have used those of the attempt that
        counts.
        """
        counts = Counter(a.task for a in acks)
        missing, unasked = sorted(set(order.tasks) - set(counts)), sorted(set(counts) - set(order.tasks))
        if missing:
            return f"no acknowledgement from tasks {missing}"
        if unasked:
            return f"tasks {unasked} acknowledged without an order"
        doubled = sorted(t for t, n in counts.items() if n > 1)
        if doubled:
            return f"several attempts of tasks {doubled} left traces"
        attempt_of = {
            (edge.index, v.subtask): ack.attempt
            for ack in acks
            for v in ack.vertices
            for edge in self._graph.out_edges(v.vertex)
        }
        for ack in acks:
            for channel, attempt in ack.seen.items():
                if attempt_of.get(channel) != attempt:
                    return f"task {ack.task} used another attempt of channel {channel} than the one that counts"
        return None

    def apply(self, acks: list[messages.TaskAck]) -> None:
        self.settled = False
        for ack in acks:
            self._versions[ack.task] = ack.attempt
            self._inheritance.pop(ack.task, None)  # its first file was a base that holds all of it
            if ack.state_file is not None:
                before = self._files.get(ack.task, ())
                if ack.state_is_base:
                    self.obsolete += before
                    before = ()
                self._files[ack.task] = (*before, ack.state_file)
            if all(v.ended for v in ack.vertices):
                self._ended.add(ack.task)
            for report in ack.vertices:
                self.reports[report.vertex, report.subtask] = report
                self._handles += [
                    Committable(sink, handle) for sink, handles in report.handles.items() for handle in handles
                ]
                if report.vertex in self._splits:
                    self._splits[report.vertex].update(report.subtask, report.positions)
        if self._feedback:
            self._send_back([report for ack in acks for report in ack.vertices])

    def _send_back(self, reports: list[messages.VertexReport]) -> None:
        """Put the records of iterations into the next order of their sources.

        Between epochs nothing is in flight. So when all other sources have ended and no records are sent back, only a timer
        can produce some (the iterations are quiet); without a pending timer the iterations end.
        """
        pending: dict[tuple[str, int], list[Any]] = {}
        for report in reports:
            for feedback_id, runs in report.feedback.items():
                pending[feedback_id, report.subtask] = runs
        others = [r for (v, _), r in self.reports.items() if v in self._splits]
        quiet = all(r.ended for r in others) and not any(pending.values())
        over = quiet and self.next_timer() is None
        for vertex, subtask in self._loops:
            runs = pending.get((self._feedback[vertex].feedback_id, subtask), [])
            self._loops[vertex, subtask] = SplitPosition(FeedbackSource.split, Returned(runs, quiet), over)

    def watermark(self) -> int:
        """Return the lowest watermark of the job's last vertices that are not idle."""
        last = {v for v in self._graph.vertices if not self._graph.out_edges(v)}
        marks = [r.watermark for (v, _), r in self.reports.items() if v in last and not r.idle]
        return min(marks, default=MIN_TIMESTAMP)

    def next_timer(self) -> int | None:
        """Return the earliest processing-time timer of any task."""
        return min((r.next_timer for r in self.reports.values() if r.next_timer is not None), default=None)

    def _source_orders(
        self, task: messages.TaskId, limit: int, seconds: float | None
    ) -> dict[str, messages.SourceOrder]:
        group, subtask = self._plan.levels[task[0]].locate(task[1])
        orders = {}
        for vertex in group.vertices:
            if vertex in self._sources:
                splits = self._splits.get(vertex)
                more = splits is not None and splits.more
                budget = ReadBudget(limit, seconds, self._alignment_limit(vertex), more)
                orders[vertex] = messages.SourceOrder(
                    (self._loops[vertex, subtask],) if splits is None else splits.of(subtask), budget
                )
        return orders

    def _alignment_limit(self, vertex: str) -> int | None:
        """Return, with watermark alignment, the event time up to which a source may read: the slowest of its group decides."""
        alignment = self._sources[vertex].strategy.alignment
        if alignment is None:
            return None
        members = {
            v
            for v, spec in self._sources.items()
            if spec.strategy.alignment is not None and spec.strategy.alignment.group == alignment.group
        }
        marks = [r.watermark for (v, _), r in self.reports.items() if v in members and not r.ended and not r.idle]
        expected = sum(self._graph.vertices[v].parallelism for v in members)
        seen = sum(1 for v, _ in self.reports if v in members)
        if seen < expected:
            return MIN_TIMESTAMP + alignment.max_drift_ms
        return min(marks) + alignment.max_drift_ms if marks else None
