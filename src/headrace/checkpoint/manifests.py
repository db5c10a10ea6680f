"""From the progress of a job to the manifest of a checkpoint and back. Plain data in between: reading a manifest runs no code.

A manifest says of each task (a first vertex and a subtask) which files hold its state, of each source where its splits
stand, and how the graph was cut (`layout`). A job that is cut the same way goes on with the same files; any other one
inherits: each new task reads the files of all old ones that had operators of it.
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
from headrace.operators.source import SplitPosition
from headrace.state.file_format import is_strong
from headrace.state.files import StateFile
from headrace.state.json_values import packed, unpacked
from headrace.worker.messages import TaskAck, TaskOwner

__all__ = [
    "IncompatibleStateError",
    "file_entries",
    "files_by_owner",
    "files_of",
    "has_strong_sums",
    "key_groups_of",
    "layout_of",
    "operator_names",
    "packed_positions",
    "states_of",
    "unpacked_positions",
]


class IncompatibleStateError(StateError):
    """A checkpoint or savepoint does not fit the program: starting again would not help.

    >>> IncompatibleStateError("No operator for it").code
    'STATE_INCOMPATIBLE'
    """

    code = "STATE_INCOMPATIBLE"


# -- writing ----------------------------------------------------------------------------------------------------------


def file_entries(progress: JobProgress) -> list[FileEntry]:
    """The files of all tasks, each chain in order."""
    return [
        FileEntry(f"{vertex}/{subtask}", file.name, file.size, file.checksum)
        for (vertex, subtask), files in sorted(progress.files.items())
        for file in files
    ]


def layout_of(graph: JobGraph, plan: EpochPlan) -> dict[str, Any]:
    """How the graph is cut into tasks: by first vertex its parallelism, its operators, and the edges that it reads."""
    layout = {}
    for level in plan.levels:
        for group in level.groups:
            vertices = [graph.vertices[v] for v in group.vertices]
            layout[group.vertices[0]] = {
                "parallelism": vertices[0].parallelism,
                "operators": {
                    node.operator_id: {"uid": node.uid, "name": node.name, "max_parallelism": vertex.max_parallelism}
                    for vertex in vertices
                    for node in vertex.nodes
                },
                "inputs": sorted([edge.index, edge.source] for edge in graph.edges if edge.target in group.vertices),
            }
    return layout


def states_of(acks: list[TaskAck]) -> dict[str, dict[str, str]]:
    """The kinds of all states, by operator id and name."""
    kinds: dict[str, dict[str, str]] = {}
    for ack in acks:
        for operator_id, states in ack.states.items():
            kinds.setdefault(operator_id, {}).update(states)
    return kinds


def packed_positions(progress: JobProgress) -> dict[str, Any]:
    """Where the sources stand, as JSON data."""
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
    """Say whether the manifest's checksums tell its files from any other, also from one that was made to fit."""
    return all(is_strong(file.checksum) for file in manifest.files)


def unpacked_positions(manifest: Manifest) -> dict[str, list[SplitPosition]]:
    """Where the sources stand, by vertex."""
    return {vertex: [_position(p) for p in positions] for vertex, positions in manifest.positions.items()}


def key_groups_of(manifest: Manifest) -> dict[str, int]:
    """Into how many key groups the state of each operator is cut."""
    layout = manifest.facts.get("layout", {})
    return {o: facts["max_parallelism"] for group in layout.values() for o, facts in group["operators"].items()}


def operator_names(manifest: Manifest, ids: Iterable[str]) -> str:
    """List operators of the manifest's job for a message: by name and uid, or by id if it does not know them."""
    named = {o: f for group in manifest.facts.get("layout", {}).values() for o, f in group["operators"].items()}
    return ", ".join(f"{named[o]['name']!r} (uid {named[o]['uid']})" if o in named else o for o in ids)


def files_by_owner(manifest: Manifest) -> dict[TaskOwner, tuple[StateFile, ...]]:
    """The state files of each task, each chain in order."""
    files: dict[TaskOwner, list[StateFile]] = {}
    for entry in manifest.files:
        vertex, _, subtask = entry.owner.rpartition("/")
        files.setdefault((vertex, int(subtask)), []).append(StateFile(entry.name, entry.size, entry.checksum))
    return {owner: tuple(chain) for owner, chain in files.items()}


def files_of(manifest: Manifest) -> list[StateFile]:
    """All state files, in no order."""
    return [StateFile(entry.name, entry.size, entry.checksum) for entry in manifest.files]


def _position(data: dict[str, Any]) -> SplitPosition:
    split = Split(data["split"], unpacked(data["payload"]))
    return SplitPosition(split, unpacked(data["position"]), data["finished"], data.get("subtask"))
