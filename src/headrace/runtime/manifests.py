"""From a ledger to a checkpoint's manifest and back. Plain data in between: reading a manifest runs no code.

A manifest says of each task (a first vertex and a subtask) which files hold its state, of each source where its splits
stand, and how the graph was cut (`layout`). A job that is cut the same way goes on with the same files; any other one
inherits: each new task reads the files of all old ones that had operators of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headrace.checkpoint.model import Committable, FileEntry, Manifest
from headrace.common.errors import StateError
from headrace.graph.epoch_plan import EpochPlan
from headrace.graph.job_graph import JobGraph
from headrace.operators.source import SplitPosition
from headrace.runtime.ledger import Ledger, TaskOwner
from headrace.runtime.origin import Origin
from headrace.runtime.task.messages import Inheritance, OldSubtask, TaskAck, VertexReport
from headrace.sinks.base import Handle
from headrace.sources.base import Split
from headrace.state.file_format import is_strong
from headrace.state.files import StateFile
from headrace.state.json_values import packed, unpacked

__all__ = [
    "IncompatibleStateError",
    "Origin",
    "as_committable",
    "as_handle",
    "check_inputs",
    "file_entries",
    "files_by_owner",
    "files_of",
    "has_strong_sums",
    "key_groups_of",
    "layout_of",
    "packed_positions",
    "start",
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


def file_entries(ledger: Ledger) -> list[FileEntry]:
    """The files of all tasks, each chain in order."""
    return [
        FileEntry(f"{vertex}/{subtask}", file.name, file.size, file.checksum)
        for (vertex, subtask), files in sorted(ledger.files.items())
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


def _cut(layout: dict[str, Any]) -> dict[str, Any]:
    """What must be equal if tasks are to go on with the same files. A manifest's dicts come back in another order."""
    return {v: (group["parallelism"], sorted(group["operators"]), group.get("inputs")) for v, group in layout.items()}


def states_of(acks: list[TaskAck]) -> dict[str, dict[str, str]]:
    """The kinds of all states, by operator id and name."""
    kinds: dict[str, dict[str, str]] = {}
    for ack in acks:
        for operator_id, states in ack.states.items():
            kinds.setdefault(operator_id, {}).update(states)
    return kinds


def packed_positions(ledger: Ledger) -> dict[str, Any]:
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
        for vertex, positions in ledger.positions.items()
    }


def as_committable(sink: str, handle: Handle) -> Committable:
    """A sink's handle as the protocol knows it."""
    return Committable(sink, handle.subtask, handle.generation, handle.checkpoint, handle.id, handle.payload)


def as_handle(committable: Committable, generation: int = 0) -> Handle:
    """And back. `generation`: the driver's own; what an earlier one has staged is `recovered`.

    >>> as_committable("s", as_handle(Committable("s", 0, 1, 3, "x", {"file": "f"}))).payload
    {'file': 'f'}
    """
    c = committable
    return Handle(c.id, c.subtask, c.epoch, c.generation, c.payload, recovered=c.generation < generation)


# -- reading ----------------------------------------------------------------------------------------------------------


def start(
    ledger: Ledger,
    graph: JobGraph,
    plan: EpochPlan,
    origin: Origin,
    positions: dict[str, list[SplitPosition]] | None = None,
) -> None:
    """Let a new ledger stand where the manifest says. `positions`: where its sources stand, if that is known better."""
    manifest = origin.manifest
    layout: dict[str, Any] = dict(manifest.facts.get("layout", {}))
    wanted = layout_of(graph, plan)
    _check_claimed(origin, wanted)
    _check_key_groups(layout, wanted, set(manifest.facts.get("states", {})))
    positions = unpacked_positions(manifest) if positions is None else positions
    files = files_by_owner(manifest)
    # Files of the first format can be forged to fit their checksums: their state is written again at once.
    if origin.own and _cut(layout) == _cut(wanted) and has_strong_sums(manifest):
        ledger.start_from(origin, files, {}, positions)
        return
    inheritance: dict[TaskOwner, Inheritance] = {}
    for vertex, group in wanted.items():
        sources = [v for v, old in layout.items() if set(old["operators"]) & set(group["operators"])]
        old = tuple(
            OldSubtask(manifest.job_id, v, i, origin.directory, files[v, i])
            for v in sources
            for i in range(layout[v]["parallelism"])
            if (v, i) in files
        )
        if old:
            for subtask in range(group["parallelism"]):
                inheritance[vertex, subtask] = Inheritance(old)
    ledger.start_from(origin, {}, inheritance, positions)


def has_strong_sums(manifest: Manifest) -> bool:
    """Say whether the manifest's checksums tell its files from any other, also from one that was made to fit."""
    return all(is_strong(file.checksum) for file in manifest.files)


def check_inputs(graph: JobGraph, reports: Mapping[TaskOwner, VertexReport]) -> None:
    """After the first epoch: who saw the end of all its input in the life before can get no other input now."""
    for vertex in graph.vertices.values():
        if not all(reports[vertex.id, i].ended for i in range(vertex.parallelism)):
            continue
        for edge in graph.in_edges(vertex.id):
            upstream = graph.vertices[edge.source]
            if not all(reports[upstream.id, i].ended for i in range(upstream.parallelism)):
                raise IncompatibleStateError(
                    f"{vertex.name!r} had seen the end of all its input, and now gets input from {upstream.name!r}",
                    remedy="start it without its state: give it another uid, and allow non-restored state.",
                )


def unpacked_positions(manifest: Manifest) -> dict[str, list[SplitPosition]]:
    """Where the sources stand, by vertex."""
    return {vertex: [_position(p) for p in positions] for vertex, positions in manifest.positions.items()}


def key_groups_of(manifest: Manifest) -> dict[str, int]:
    """Into how many key groups the state of each operator is cut."""
    layout = manifest.facts.get("layout", {})
    return {o: facts["max_parallelism"] for group in layout.values() for o, facts in group["operators"].items()}


def _check_claimed(origin: Origin, wanted: dict[str, Any]) -> None:
    known = {operator for group in wanted.values() for operator in group["operators"]}
    states: dict[str, Any] = dict(origin.manifest.facts.get("states", {}))
    lost = [operator for operator in states if operator not in known]
    if lost and not origin.ignore_unclaimed:
        named = {o: f for g in origin.manifest.facts["layout"].values() for o, f in g["operators"].items()}
        shown = ", ".join(f"{named[o]['name']!r} (uid {named[o]['uid']})" if o in named else o for o in lost)
        raise IncompatibleStateError(
            f"The program has no operator for the state of {shown}",
            seen=f"state of {len(lost)} operators that the program does not have",
            remedy="give operators the uid they had, or restore with allow-non-restored-state to drop it.",
        )


def _check_key_groups(layout: dict[str, Any], wanted: dict[str, Any], stateful: set[str]) -> None:
    before = {o: f for group in layout.values() for o, f in group["operators"].items() if o in stateful}
    for group in wanted.values():
        for operator_id, facts in group["operators"].items():
            old = before.get(operator_id)
            if old is not None and old["max_parallelism"] != facts["max_parallelism"]:
                raise IncompatibleStateError(
                    f"The state of {facts['name']!r} is cut into another number of key groups",
                    seen=facts["max_parallelism"],
                    expected=str(old["max_parallelism"]),
                    remedy=f"set_max_parallelism({old['max_parallelism']})",
                )


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
