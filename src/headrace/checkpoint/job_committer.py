"""All sinks of a job that stage and commit, behind one port; and the sources that hear of a completed checkpoint.

Counts the commits of each sink, with Flink's names of metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from headrace.checkpoint.errors import CommitRefusedError
from headrace.checkpoint.manifests import IncompatibleStateError, unpacked_positions
from headrace.checkpoint.model import Committable, Manifest
from headrace.connectors.base.sink_committer import Handle, SinkCommitter, StagedOutputLostError
from headrace.errors import HeadraceError, UserCodeError
from headrace.graph.job_graph import JobGraph
from headrace.graph.specs import StagedSink
from headrace.graph.stream_graph import StreamNode
from headrace.metrics.values import Count, GaugeValue, Path, Value


class CommitCounts:
    """Counts since the driver took the job over: a committer survives restarts of the job.

    >>> counts = CommitCounts()
    >>> counts.prepared({"a": 1, "b": 2})
    >>> counts.committed("a", 1)
    >>> counts.committed("a", 1)
    >>> {path[0]: value[0] for path, value in counts.values().items() if value[0]}
    {'totalCommittables': 3, 'successfulCommittables': 1, 'alreadyCommittedCommittables': 1, 'pendingCommittables': 2}
    """

    def __init__(self) -> None:
        self._total = self._successful = self._already = self._failed = self._retried = 0
        self._pending: dict[str, int] = {}
        self._done: set[str] = set()

    def prepared(self, sizes: Mapping[str, int]) -> None:
        """Count handles, with their numbers of committables, that a checkpoint will commit; perhaps not for the first time."""
        self._total += sum(size for handle, size in sizes.items() if handle not in self._pending)
        self._pending = {**self._pending, **sizes}
        self._done = set()

    def committed(self, handle: str, size: int) -> None:
        """Count a committed handle; one of an earlier driver was not prepared here."""
        if handle in self._done:
            self._already += size
            return
        if self._pending.pop(handle, None) is None:
            self._total += size
        self._successful += size
        self._done.add(handle)

    def put_off(self, size: int) -> None:
        """Count a handle whose commit will be retried."""
        self._retried += size

    def refused(self, handle: str, size: int) -> None:
        """Count a handle that can never be committed."""
        self._pending.pop(handle, None)
        self._failed += size

    def values(self) -> dict[Path, Value]:
        return {
            ("totalCommittables",): Count(self._total),
            ("successfulCommittables",): Count(self._successful),
            ("alreadyCommittedCommittables",): Count(self._already),
            ("failedCommittables",): Count(self._failed),
            ("retriedCommittables",): Count(self._retried),
            ("pendingCommittables",): GaugeValue(sum(self._pending.copy().values())),
        }


class JobCommitter:
    """Satisfies `headrace.checkpoint.ports.Committer`: finds the sink of each handle by its operator's id."""

    def __init__(self, job_id: str, graph: JobGraph) -> None:
        self.generation = 0
        self._committers: dict[str, SinkCommitter] = {}
        self._nodes: dict[str, StreamNode] = {}
        for vertex in graph.vertices.values():
            for node in vertex.nodes:
                if isinstance(node.spec, StagedSink):
                    committer = node.spec.sink.open_committer(job_id, node.operator_id)
                    if committer is not None:
                        self._committers[node.operator_id] = committer
                        self._nodes[node.operator_id] = node
        self._counts = {sink: CommitCounts() for sink in self._committers}

    def metrics(self) -> dict[str, dict[Path, Value]]:
        """Return the metrics of each sink, by operator id: commit counts, and those that the committer registered."""
        return {sink: {**self._counts[sink].values(), **one.metrics()} for sink, one in self._committers.items()}

    def __bool__(self) -> bool:
        """Return whether any sink commits."""
        return bool(self._committers)

    def __contains__(self, sink: str) -> bool:
        """Return whether the operator with this id commits."""
        return sink in self._committers

    def combined(self, staged: list[Committable]) -> list[Committable]:
        by_sink: dict[str, list[Handle]] = {}
        for sink, handle in staged:
            by_sink.setdefault(sink, []).append(handle)
        for sink, committer in self._committers.items():
            if sink in by_sink:
                by_sink[sink] = together = committer.combined(by_sink[sink])
                self._counts[sink].prepared({handle.id: committer.size(handle) for handle in together})
        return [Committable(sink, one) for sink, several in by_sink.items() for one in several]

    def commit(self, committable: Committable) -> None:
        sink, handle = committable.sink, self._as_seen_here(committable.handle)
        committer = self._committers.get(sink)
        if committer is None:
            raise IncompatibleStateError(
                "The checkpoint holds output of a sink that the program does not have",
                seen=f"{handle.id} of operator {sink}",
                remedy="run the program with that sink (same uid) once more, so that its output can be committed.",
            )
        counts = self._counts[sink]
        try:
            committer.commit(handle)
            counts.committed(handle.id, committer.size(handle))
        except StagedOutputLostError as error:
            counts.refused(handle.id, committer.size(handle))
            node = self._nodes[sink]
            raise CommitRefusedError(
                error.message, operator_name=node.name, uid=node.uid, seen=error.seen, remedy=error.remedy
            ) from error
        except Exception as error:
            counts.put_off(committer.size(handle))
            raise self._named(sink, error) from error

    def abort(self, committable: Committable) -> bool:
        committer = self._committers.get(committable.sink)
        if committer is None:
            return False
        try:
            return committer.abort(self._as_seen_here(committable.handle))
        except Exception as error:
            raise self._named(committable.sink, error) from error

    def staged(self) -> Sequence[Committable]:
        found: list[Committable] = []
        for sink, committer in self._committers.items():
            try:
                found += [Committable(sink, handle) for handle in committer.staged()]
            except Exception as error:
                raise self._named(sink, error) from error
        return found

    def untouched(self, epoch: int) -> bool:
        return all(committer.untouched(epoch) for committer in self._committers.values())

    def close(self) -> None:
        for committer in self._committers.values():
            committer.close()

    def _as_seen_here(self, handle: Handle) -> Handle:
        """Return the handle, marked as recovered if an earlier generation staged it."""
        return replace(handle, recovered=True) if handle.generation < self.generation else handle

    def _named(self, sink: str, error: Exception) -> HeadraceError:
        """Return the error with the name of the sink's operator."""
        node = self._nodes[sink]
        if not isinstance(error, HeadraceError):
            return UserCodeError.wrap(error, operator_name=node.name, uid=node.uid)
        if error.operator_name is None:
            error.operator_name, error.uid = node.name, node.uid
        return error


class JobPublisher:
    """Satisfies `headrace.checkpoint.ports.Publisher`: commits offsets back to their sources, calls a listener."""

    def __init__(
        self, sources: Callable[[dict[str, dict[str, Any]]], None], listener: Callable[[Manifest], None]
    ) -> None:
        """`sources` takes the positions by vertex and split."""
        self._sources, self._listener = sources, listener
        self._newest = 0

    def publish(self, manifest: Manifest) -> None:
        if manifest.epoch <= self._newest:
            return
        self._newest = manifest.epoch
        positions = unpacked_positions(manifest)
        self._sources({vertex: {p.split.id: p.position for p in splits} for vertex, splits in positions.items()})
        self._listener(manifest)
