"""Converts the progress of a job to the contents of a manifest and back. Reading a manifest runs no code.

A manifest lists for each task (a first vertex and a subtask) the files of its state, for each source the positions of its
splits, and how the graph was cut into tasks (`layout`). A job that is cut the same way continues with the same files. Any
other job inherits: each new task reads the files of all old tasks that had one of its operators.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from headrace.checkpoint.model import FileEntry, Manifest
from headrace.checkpoint.ports import JobProgress
from headrace.connectors.base.split_enumerator import Split
from headrace.errors import StateError
from headrace.graph.epoch_plan import EpochPlan
from headrace.graph.job_graph import JobGraph
from headrace.graph.state_shapes import state_shape
from headrace.graph.stream_graph import StreamNode
from headrace.operators.source import SplitPosition
from headrace.state.file_format import is_strong
from headrace.state.files import StateFile
from headrace.state.safe_pickle import packed, unpacked
from headrace.worker.messages import TaskAck, TaskOwner


class IncompatibleStateError(StateError):
    """A checkpoint or savepoint does not fit the program: a restart does not help.

    >>> IncompatibleStateError("No operator for it").code
    'STATE_INCOMPATIBLE'
    """

    code = "STATE_INCOMPATIBLE"


# -- writing ----------------------------------------------------------------------------------------------------------


def file_entries(progress: JobProgress) -> list[FileEntry]:
    """Return the files of all tasks, each chain in order."""
    return [
        FileEntry(f"{vertex}/{subtask}", file.name, file.size, file.checksum)
        for (vertex, subtask), files in sorted(progress.files.items())
        for file in files
    ]


def layout_of(graph: JobGraph, plan: EpochPlan) -> dict[str, Any]:
    """Return how the graph is cut into tasks: parallelism, operators and input edges, by first vertex."""
    layout = {}
    for level in plan.levels:
        for group in level.groups:
            vertices = [graph.vertices[v] for v in group.vertices]
            layout[group.vertices[0]] = {
                "parallelism": vertices[0].parallelism,
                "operators": {
                    node.operator_id: _facts(node, vertex.max_parallelism)
                    for vertex in vertices
                    for node in vertex.nodes
                },
                "inputs": sorted([edge.index, edge.source] for edge in graph.edges if edge.target in group.vertices),
            }
    return layout


def _facts(node: StreamNode, max_parallelism: int) -> dict[str, Any]:
    facts: dict[str, Any] = {"uid": node.uid, "name": node.name, "max_parallelism": max_parallelism}
    shape = state_shape(node.spec)
    return facts if shape is None else {**facts, "shape": shape}


def states_of(acks: list[TaskAck]) -> dict[str, dict[str, str]]:
    """Return the kinds of all states, by operator id and name."""
    kinds: dict[str, dict[str, str]] = {}
    for ack in acks:
        for operator_id, states in ack.states.items():
            kinds.setdefault(operator_id, {}).update(states)
    return kinds


def packed_positions(progress: JobProgress) -> dict[str, Any]:
    """Return the positions of the sources as JSON data."""
    return {
        vertex: [
            {
                "split": p.split.id,
                "payload": packed(p.split.payload),
                "position": packed(p.position),
                "finished": p.finished,
                "subtask": p.subtask,
            }
            for p in positions
        ]
        for vertex, positions in progress.positions.items()
    }


# -- reading ----------------------------------------------------------------------------------------------------------


def has_strong_sums(manifest: Manifest) -> bool:
    """Return whether the checksums of all files are cryptographic, so that nobody can have replaced a file."""
    return all(is_strong(file.checksum) for file in manifest.files)


def unpacked_positions(manifest: Manifest) -> dict[str, list[SplitPosition]]:
    """Return the positions of the sources, by vertex."""
    return {vertex: [_position(p) for p in positions] for vertex, positions in manifest.positions.items()}


def key_groups_of(manifest: Manifest) -> dict[str, int]:
    """Return the number of key groups of each operator."""
    layout = manifest.facts.get("layout", {})
    return {o: facts["max_parallelism"] for group in layout.values() for o, facts in group["operators"].items()}


def operator_names(manifest: Manifest, ids: Iterable[str]) -> str:
    """List operators of the manifest's job for a message: by name and uid, or by id if it does not know them."""
    named = {o: f for group in manifest.facts.get("layout", {}).values() for o, f in group["operators"].items()}
    return ", ".join(f"{named[o]['name']!r} (uid {named[o]['uid']})" if o in named else o for o in ids)


def files_by_owner(manifest: Manifest) -> dict[TaskOwner, tuple[StateFile, ...]]:
    """Return the state files of each task, each chain in order."""
    files: dict[TaskOwner, list[StateFile]] = {}
    for entry in manifest.files:
        vertex, _, subtask = entry.owner.rpartition("/")
        files.setdefault((vertex, int(subtask)), []).append(StateFile(entry.name, entry.size, entry.checksum))
    return {owner: tuple(chain) for owner, chain in files.items()}


def files_of(manifest: Manifest) -> list[StateFile]:
    """Return all state files, in no particular order."""
    return [StateFile(entry.name, entry.size, entry.checksum) for entry in manifest.files]


def state_changes(graph: JobGraph, acks: Iterable[TaskAck]) -> str:
    """Return one line about the states that a restored program does not share with its checkpoint; empty: it shares all.

    A new state of a restored operator begins empty (it may have been renamed); a state that no function asks for any
    more is carried along unused.
    """
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


def _position(data: dict[str, Any]) -> SplitPosition:
    split = Split(data["split"], unpacked(data["payload"]))
    return SplitPosition(split, unpacked(data["position"]), data["finished"], data.get("subtask"))
