"""Find the states that a program's functions declare, with kinds and types, by opening them once on empty state.

States are declared in `open()` or `initialize_state()`, so the program's graph does not contain them. Sources and sinks are
not opened, because they may access external systems.
"""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import cloudpickle

from headrace.graph.job_graph import JobGraph, JobVertex
from headrace.graph.partitioners import KeyGroup
from headrace.graph.specs import SourceSpec
from headrace.graph.stream_graph import StreamNode
from headrace.operators.clock import SystemClock
from headrace.operators.context import OperatorContext, TaskInfo
from headrace.operators.factory import create_operator
from headrace.state.heap import HeapKeyedBackend
from headrace.state.operator_state import OperatorStateBackend

_log = logging.getLogger("headrace.state_processor")


class _Silence:
    """Drops what would be sent to the driver."""

    def print_lines(self, lines: list[str], stderr: bool) -> None:
        """Drop lines."""

    def collect(self, collect_id: str, values: list[Any]) -> None:
        """Drop records."""


class DeclaredStates(NamedTuple):
    """Kinds and types of states by name. Keyed and operator states have separate namespaces."""

    keyed_kinds: dict[str, str]
    operator_kinds: dict[str, str]
    keyed_types: dict[str, str]
    operator_types: dict[str, str]


def declared_states(graph: JobGraph, vertex: JobVertex, node: StreamNode) -> DeclaredStates:
    """Return the states that an operator declares when it opens. Raise the errors of the program's functions."""
    if node.is_sink or isinstance(node.spec, SourceSpec):
        return DeclaredStates({}, {}, {}, {})
    task = TaskInfo(
        job_id="0" * 32,
        job_name=graph.name,
        vertex_name=vertex.name,
        subtask=0,
        parallelism=vertex.parallelism,
        max_parallelism=vertex.max_parallelism,
        attempt=0,
        batch=graph.settings.batch,
    )
    backend = HeapKeyedBackend(vertex.max_parallelism, range(vertex.max_parallelism))
    context = OperatorContext(
        task, node.operator_id, node.name, node.uid, backend, OperatorStateBackend(), SystemClock(), _Silence()
    )
    context.keyed = node is vertex.head and _is_keyed(graph, vertex)
    operator = create_operator(cloudpickle.loads(cloudpickle.dumps(node.spec)))
    operator.setup(context)
    try:
        operator.open()
        operators = context.operator_state
        return DeclaredStates(
            backend.state_kinds(), operators.state_kinds(), backend.types.texts(), operators.types.texts()
        )
    finally:
        try:
            operator.close()
        except Exception:
            _log.debug("cannot close %s", node.name, exc_info=True)


def _is_keyed(graph: JobGraph, vertex: JobVertex) -> bool:
    return any(isinstance(e.edge.partitioner, KeyGroup) and not e.edge.united for e in graph.in_edges(vertex.id))
