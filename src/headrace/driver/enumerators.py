"""The split enumerators of a job: makes them from the sources, and tells the ledger what they find.

They live as long as the job does in this driver, across restarts and rescales. The splits that a job begins with are found
once: after a restart without a checkpoint it reads the same ones, with the same offsets, whatever its parallelism is then.
"""

from __future__ import annotations

import logging
from typing import Any

from headrace.connectors.base.split_enumerator import Split, SplitEnumerator
from headrace.connectors.feedback import FeedbackSource
from headrace.driver.ledger import Ledger
from headrace.graph.job_graph import JobGraph
from headrace.graph.specs import SourceSpec

_log = logging.getLogger("headrace")


class Enumerators:
    """The enumerators of all sources. Belongs to one job."""

    def __init__(self, graph: JobGraph) -> None:
        self._enumerators: dict[str, SplitEnumerator] = {
            vertex.id: vertex.head.spec.source.enumerator()
            for vertex in graph.vertices.values()
            if isinstance(vertex.head.spec, SourceSpec) and not isinstance(vertex.head.spec.source, FeedbackSource)
        }
        self._first: dict[str, list[Split]] = {}

    def start(self, graph: JobGraph) -> None:
        """Find the splits that the job begins with, so that a source that does not exist fails the submission."""
        for vertex in self._enumerators:
            self._first_splits(vertex, graph.vertices[vertex].parallelism)

    def discover(self, ledger: Ledger) -> None:
        """Add the splits that the ledger does not know yet. Called before each epoch.

        A failure leaves the ledger with everything found so far; the next call continues.
        """
        for vertex, enumerator in self._enumerators.items():
            if ledger.has_ended(vertex):
                continue
            if vertex not in ledger.enumerated:
                first = self._first_splits(vertex, ledger.split_progress(vertex).parallelism)
                ledger.add_splits(vertex, first, more=True)
            found = enumerator.discover(ledger.split_progress(vertex))
            ledger.add_splits(vertex, found, enumerator.more_splits)

    def _first_splits(self, vertex: str, parallelism: int) -> list[Split]:
        if vertex not in self._first:
            self._first[vertex] = self._enumerators[vertex].start(parallelism)
        return self._first[vertex]

    def notify_checkpoint_complete(self, positions: dict[str, dict[str, Any]]) -> None:
        """Tell the external systems how far the job has durably come: positions by vertex and split id."""
        for vertex, enumerator in self._enumerators.items():
            try:
                enumerator.notify_checkpoint_complete(positions.get(vertex, {}))
            except Exception:
                _log.warning("headrace: source %s could not publish its positions", vertex, exc_info=True)

    def close(self, kept: bool) -> None:
        """Release everything. `kept`: checkpoints stay, and another driver may continue from them."""
        for vertex, enumerator in self._enumerators.items():
            try:
                enumerator.close(kept)
            except Exception:
                _log.warning("headrace: the enumerator of source %s could not be closed", vertex, exc_info=True)
