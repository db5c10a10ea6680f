"""The ledger: what the driver knows between epochs. Versions and state files of tasks, splits and positions, watermarks.

`order` makes the next epoch's orders from it. `apply` records an epoch's acknowledgements, after `check` has found them
complete and consistent. The ledger does no I/O: `headrace.driver.enumerators` finds splits, the ledger records which splits
exist, where they stand and which subtask has them.

A ledger always knows which files hold the state of its tasks. Between a checkpoint and the next epoch (`settled`) these are
the files that `stands_on` names. Once an epoch has run, each task has files of its own that hold everything it inherited.

A subtask that is restored may have ended, and then reads nothing more. The ledger learns that from the subtask's first
report. Until then it keeps new splits of a restored source unassigned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from headrace.checkpoint.model import Committable
from headrace.checkpoint.origin import Origin
from headrace.common.watermark_strategy import MIN_TIMESTAMP
from headrace.connectors.base.split_enumerator import Split, SplitProgress
from headrace.connectors.feedback import FeedbackSource, Returned
from headrace.graph.epoch_plan import EpochPlan
from headrace.graph.job_graph import JobGraph
from headrace.graph.specs import SourceSpec
from headrace.operators.source import ReadBudget, SplitPosition
from headrace.state.files import StateFile
from headrace.worker.messages import (
    NO_CHECKPOINT,
    CheckpointOrder,
    EpochOrder,
    Inheritance,
    SourceOrder,
    TaskAck,
    TaskId,
    TaskOrder,
    TaskOwner,
    VertexReport,
)


class Ledger:
    """The driver's records of one job."""

    def __init__(self, job_id: str, graph: JobGraph, plan: EpochPlan, state_directory: str) -> None:
        self._job_id = job_id
        self._graph = graph
        self._plan = plan
        self._state_directory = state_directory
        self.restarts = 0
        self.reports: dict[tuple[str, int], VertexReport] = {}
        self.obsolete: list[StateFile] = []
        """State files that no task needs any more; the loop deletes them."""
        self.stands_on: Origin | None = None
        """The checkpoint or savepoint that the tasks were last complete with; None if the job has begun without one."""
        self.settled = True
        """Whether no epoch has run since: `stands_on` holds all state, and nothing is staged that it does not name."""
        self._versions: dict[TaskId, int | None] = {}
        self._files: dict[TaskId, tuple[StateFile, ...]] = {}
        self._ended: set[TaskId] = set()
        self._sources: dict[str, SourceSpec] = {}
        self._positions: dict[tuple[str, int], dict[str, SplitPosition]] = {}
        self._inheritance: dict[TaskId, Inheritance] = {}
        self._unassigned: dict[str, dict[str, SplitPosition]] = {}
        """Splits that no subtask has yet, by source. A source without an entry has not been enumerated."""
        self._restored: set[str] = set()
        """Sources whose splits come from another ledger."""
        self._complete: set[str] = set()
        """Sources for which no more splits follow."""
        self._handles: list[Committable] = []
        self._feedback: dict[str, str] = {}
        """The sources of iterations."""
        for level in plan.levels:
            for partition in range(level.partitions):
                self._versions[level.index, partition] = None
        for vertex in graph.vertices.values():
            spec = vertex.head.spec
            if isinstance(spec, SourceSpec):
                self._sources[vertex.id] = spec
                for subtask in range(vertex.parallelism):
                    self._positions[vertex.id, subtask] = {}
                    if isinstance(spec.source, FeedbackSource):
                        self._feedback[vertex.id] = spec.source.feedback_id
                        loop = spec.source.split
                        self._positions[vertex.id, subtask] = {loop.id: SplitPosition(loop)}

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
        checkpoint: CheckpointOrder = NO_CHECKPOINT,
        drain: bool = False,
    ) -> EpochOrder:
        """Return the orders of the next epoch."""
        for vertex in self._unassigned:
            self._assign(vertex)
        tasks = {
            task: TaskOrder(
                version,
                self._files.get(task, ()),
                self._inheritance.get(task),
                self._source_orders(task, limit, seconds),
            )
            for task, version in self._versions.items()
            if task not in self._ended
        }
        return EpochOrder(
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
        return set(self._unassigned)

    def split_progress(self, vertex: str) -> SplitProgress:
        """Return what is known of the splits of a source."""
        parallelism = self._graph.vertices[vertex].parallelism
        splits = [p for i in range(parallelism) for p in self._positions[vertex, i].values()]
        return SplitProgress(
            frozenset(p.split.id for p in splits) | frozenset(self._unassigned.get(vertex, ())),
            frozenset(p.split.id for p in splits if p.finished),
            parallelism,
        )

    def add_splits(self, vertex: str, splits: list[Split], more: bool) -> None:
        """Record new splits of a source. `more`: others can follow, so that no subtask of it may end for lack of splits."""
        waiting = self._unassigned.setdefault(vertex, {})
        if splits:
            known = self.split_progress(vertex).known
            waiting.update({split.id: SplitPosition(split) for split in splits if split.id not in known})
        if more:
            self._complete.discard(vertex)
        else:
            self._complete.add(vertex)

    def _assign(self, vertex: str) -> None:
        """Assign new splits, once it is known which subtasks have ended."""
        subtasks = range(self._graph.vertices[vertex].parallelism)
        if not self._unassigned[vertex]:
            return
        if vertex in self._restored and any((vertex, i) not in self.reports for i in subtasks):
            return
        self._assign_to(vertex, [i for i in subtasks if not self._has_ended(vertex, i)])

    def _assign_to(self, vertex: str, subtasks: Sequence[int]) -> None:
        """Give each split to the subtask that it belongs to, or to the one that has the fewest left to read."""
        source, parallelism = self._sources[vertex].source, self._graph.vertices[vertex].parallelism
        unread = {i: sum(not p.finished for p in self._positions[vertex, i].values()) for i in subtasks}
        while unread and self._unassigned[vertex]:
            position = self._unassigned[vertex].pop(next(iter(self._unassigned[vertex])))
            owner = source.owner(position.split, parallelism)
            subtask = owner if owner in unread else min(unread, key=unread.__getitem__)
            self._positions[vertex, subtask][position.split.id] = position
            unread[subtask] += not position.finished

    def has_ended(self, vertex: str) -> bool:
        """Say whether all subtasks of a vertex have reported their end."""
        return all(self._has_ended(vertex, i) for i in range(self._graph.vertices[vertex].parallelism))

    def _has_ended(self, vertex: str, subtask: int) -> bool:
        report = self.reports.get((vertex, subtask))
        return report is not None and report.ended

    # -- what a checkpoint is made of, and what a job starts from ---------------------------------------------------

    @property
    def tasks(self) -> list[TaskOwner]:
        """The tasks that take part in the next epoch."""
        return [self.owner(task) for task in self._versions if task not in self._ended]

    @property
    def files(self) -> dict[TaskOwner, tuple[StateFile, ...]]:
        """The state files of each task, by the vertex and subtask that own them.

        A task that inherits has none until its first epoch has run: what it stands on is in `stands_on`.
        """
        assert not self._inheritance, "the state of tasks that have not run yet is where `stands_on` says"
        return {self.owner(task): files for task, files in self._files.items()}

    @property
    def positions(self) -> dict[str, list[SplitPosition]]:
        """The splits of each source that has been enumerated, with their positions and the subtasks that have them."""
        positions = {vertex: list(splits.values()) for vertex, splits in self._unassigned.items()}
        for (vertex, subtask), splits in self._positions.items():
            if vertex in positions or vertex in self._feedback:
                owned = [replace(position, subtask=subtask) for position in splits.values()]
                positions.setdefault(vertex, []).extend(owned)
        return positions

    def owner(self, task: TaskId) -> TaskOwner:
        """The first vertex of a task, and its subtask."""
        group, subtask = self._plan.levels[task[0]].locate(task[1])
        return group.vertices[0], subtask

    def take_handles(self) -> list[Committable]:
        """What sinks have staged since the last call, with the ids of their operators."""
        handles, self._handles = self._handles, []
        return handles

    def give_back(self, handles: list[Committable]) -> None:
        """Undoes `take_handles`: the checkpoint that should have committed them came to nothing."""
        self._handles = [*handles, *self._handles]

    def settle(self, origin: Origin) -> None:
        """A checkpoint of all that the ledger has taken in is complete."""
        self.stands_on, self.settled = origin, True

    def start_from(
        self,
        origin: Origin | None,
        files: dict[TaskOwner, tuple[StateFile, ...]],
        inheritance: dict[TaskOwner, Inheritance],
        positions: dict[str, list[SplitPosition]],
    ) -> None:
        """Makes the ledger stand where another one stood: tasks restore from files, or inherit; sources go on."""
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
            elif vertex in self._sources:
                self._spread(vertex, splits, as_they_were=any(owner == vertex for owner, _ in files))

    def _spread(self, vertex: str, splits: list[SplitPosition], as_they_were: bool) -> None:
        """Assign splits that another ledger had: to the same subtasks if these are restored as they were.

        A subtask that is restored as it was may have ended: it must not get a split that another one had.
        """
        self._restored.add(vertex)
        waiting = self._unassigned[vertex] = {}
        for position in splits:
            home = None if position.subtask is None else self._positions.get((vertex, position.subtask))
            (home if as_they_were and home is not None else waiting)[position.split.id] = position
        if not as_they_were:
            self._assign_to(vertex, range(self._graph.vertices[vertex].parallelism))

    def _hand_on(self, vertex: str, loops: list[SplitPosition]) -> None:
        """Gives what goes round in an iteration to its subtasks by their number; all from one old subtask stays together."""
        parallelism = self._graph.vertices[vertex].parallelism
        shares: list[list[Returned]] = [[] for _ in range(parallelism)]
        for number, loop in enumerate(loops):
            if loop.position is not None:
                shares[(number if loop.subtask is None else loop.subtask) % parallelism].append(loop.position)
        quiet = bool(loops) and all(p.position is not None and p.position.quiet for p in loops)
        over = bool(loops) and all(p.finished for p in loops)
        for subtask, share in enumerate(shares):
            runs = [run for returned in share for run in returned.runs]
            ((split_id, known),) = self._positions[vertex, subtask].items()
            self._positions[vertex, subtask] = {split_id: SplitPosition(known.split, Returned(runs, quiet), over)}

    def check(self, order: EpochOrder, acks: list[TaskAck]) -> str | None:
        """Why the acknowledgements do not make one epoch; None if they do.

        Every task must have acknowledged once, and whoever used frames of a task used those of the attempt that counts.
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

    def apply(self, acks: list[TaskAck]) -> None:
        """Takes a complete epoch in."""
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
                if report.vertex in self._sources:
                    known = self._positions[report.vertex, report.subtask]
                    known.update({p.split.id: p for p in report.positions})
        if self._feedback:
            self._send_back([report for ack in acks for report in ack.vertices])

    def _send_back(self, reports: list[VertexReport]) -> None:
        """Files what goes round in iterations as the next order of their sources.

        Between epochs nothing is on its way. So when all other sources have ended and nothing goes back, only a timer can
        bring something (the iterations are quiet); when no timer waits, nothing can ever come again, and they end.
        """
        pending: dict[tuple[str, int], list[Any]] = {}
        for report in reports:
            for feedback_id, runs in report.feedback.items():
                pending[feedback_id, report.subtask] = runs
        others = [r for (v, _), r in self.reports.items() if v in self._sources and v not in self._feedback]
        quiet = all(r.ended for r in others) and not any(pending.values())
        over = quiet and self.next_timer() is None
        for vertex, feedback_id in self._feedback.items():
            for subtask in range(self._graph.vertices[vertex].parallelism):
                runs = pending.get((feedback_id, subtask), [])
                for split_id, known in self._positions[vertex, subtask].items():
                    self._positions[vertex, subtask][split_id] = SplitPosition(known.split, Returned(runs, quiet), over)

    def watermark(self) -> int:
        """The lowest watermark of the job's sinks-most vertices that are not idle."""
        last = {v for v in self._graph.vertices if not self._graph.out_edges(v)}
        marks = [r.watermark for (v, _), r in self.reports.items() if v in last and not r.idle]
        return min(marks, default=MIN_TIMESTAMP)

    def next_timer(self) -> int | None:
        """The earliest processing-time timer of any task."""
        return min((r.next_timer for r in self.reports.values() if r.next_timer is not None), default=None)

    def _source_orders(self, task: TaskId, limit: int, seconds: float | None) -> dict[str, SourceOrder]:
        group, subtask = self._plan.levels[task[0]].locate(task[1])
        orders = {}
        for vertex in group.vertices:
            if vertex in self._sources:
                more = vertex not in self._feedback and (vertex not in self._complete or bool(self._unassigned[vertex]))
                budget = ReadBudget(limit, seconds, self._alignment_limit(vertex), more)
                orders[vertex] = SourceOrder(tuple(self._positions[vertex, subtask].values()), budget)
        return orders

    def _alignment_limit(self, vertex: str) -> int | None:
        """With watermark alignment: how far ahead of the slowest source of the group this one may run."""
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
