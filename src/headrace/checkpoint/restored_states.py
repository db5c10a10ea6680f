"""Which states a program found in what it was restored from: the diff that a job logs as it starts.

Decides what is worth a line: a state that is new though its operator was restored begins empty (renamed, perhaps), and a state
that nothing asks for any more is carried along unused. Pure; called by the job master after the first epoch.
"""

from __future__ import annotations

from collections.abc import Iterable

from headrace.graph.job_graph import JobGraph
from headrace.worker.messages import TaskAck

__all__ = ["state_changes"]


def state_changes(graph: JobGraph, acks: Iterable[TaskAck]) -> str:
    """Describe new and unused states of all operators in one line; the empty string says that all is as it was."""
    found: dict[str, dict[str, str]] = {}
    asked_for: dict[str, dict[str, str]] = {}
    for ack in acks:
        for operator_id, states in ack.restored.items():
            found.setdefault(operator_id, {}).update(states.found)
            asked_for.setdefault(operator_id, {}).update(states.asked_for)
    nodes = {node.operator_id: node for vertex in graph.vertices.values() for node in vertex.nodes}
    lines = []
    for operator_id, before in found.items():
        now = asked_for[operator_id]
        parts = []
        if new := sorted(now.keys() - before.keys()):
            parts.append("new, so empty: " + ", ".join(f"{name} ({now[name]})" for name in new))
        if unused := sorted(before.keys() - now.keys()):
            parts.append("saved, but not asked for: " + ", ".join(f"{name} ({before[name]})" for name in unused))
        if parts:
            node = nodes[operator_id]
            lines.append(f"{node.name!r} (uid {node.uid}): {'; '.join(parts)}")
    return " | ".join(lines)
