"""Take over state from differently partitioned subtasks: of a savepoint, or from before a change of parallelism.

Decides which subtask receives what: keyed state and timers by key group, operator state by the rules of
`headrace.state.operator_state`, event time so that it never runs ahead of any of the old subtasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from headrace.operators.context import OperatorContext
from headrace.state import storage
from headrace.state.delta import OperatorState
from headrace.state.files import read_parts
from headrace.state.operator_state import OperatorSnapshot, redistribute
from headrace.worker.messages import Inheritance, OldSubtask

_ACTIVE = {"idle": False, "timed_out": False}
"""Idle inputs report idleness again, because the downstream subtasks are new."""


def inherit(inheritance: Inheritance, contexts: dict[str, OperatorContext], directory: str) -> None:
    """Fill the states of a task's operators. `directory` receives copies of remote files."""
    groups = {i: c.keyed_state.key_groups for i, c in contexts.items()}
    first, last = min(g.start for g in groups.values()), max(g.stop for g in groups.values())
    found: dict[str, list[dict[str, Any]]] = {}
    for old in inheritance.subtasks:
        # Keyed state goes straight to its backend, because all of it may not fit into memory.
        plain: dict[str, dict[str, Any]] = {}
        for operator_id, part in _read(old, range(first, last), directory):
            plain.setdefault(operator_id, {}).update(part.plain)
            if operator_id in contexts:
                contexts[operator_id].keyed_state.apply_part(part.keyed, part.plain.get("kinds"))
                restore_types(contexts[operator_id], part.plain)
        for operator_id, values in plain.items():
            found.setdefault(operator_id, []).append(values)
    for operator_id, context in contexts.items():
        context.keyed_state.finish_restore()
        if operator_id in found:
            _fill(context, found[operator_id])


def restore_types(context: OperatorContext, plain: dict[str, Any]) -> None:
    """Pass the stored types of an operator's states to its backends, before the program declares them."""
    context.keyed_state.types.restore(plain.get("types"))
    context.operator_state.types.restore(plain.get("operator_types"))


def _read(old: OldSubtask, groups: range, directory: str) -> Iterator[tuple[str, OperatorState]]:
    local = storage.local_path(old.directory)
    if local is None:
        for file in old.files:
            storage.fetch(old.directory, file.name, directory)
        local = directory
    identity = {"job_id": old.job_id, "vertex_id": old.vertex, "subtask": old.subtask}
    # The driver checked that the job itself, or this user, wrote them.
    return read_parts(local, old.files, identity, groups, allowed_modules=None, trust_job_code=True)


def _fill(context: OperatorContext, states: list[dict[str, Any]]) -> None:
    task = context.task
    snapshots = [plain.get("operator_state") or OperatorSnapshot() for plain in states]
    context.operator_state.restore(redistribute(snapshots, task.parallelism)[task.subtask])
    facts = [plain["facts"] for plain in states]
    context.facts.update(merged_facts(facts, task.subtask, task.parallelism))


def merged_facts(facts: Sequence[dict[str, Any]], subtask: int, parallelism: int) -> dict[str, Any]:
    """Merge the `facts` of all old subtasks of an operator into those of a new subtask.

    >>> merged_facts([{"operator_watermark": 7}, {"operator_watermark": 5}], 0, 3)
    {'operator_watermark': 5}
    """
    merged: dict[str, Any] = {}
    for name in sorted({name for one in facts for name in one}):
        values = [one[name] for one in facts if name in one]
        if name in ("watermark", "operator_watermark"):
            merged[name] = min(values)
        elif name == "idle":
            merged[name] = False
        elif name == "ended":
            merged[name] = len(values) == len(facts) and all(values)
        elif name == "clock":
            merged[name] = max(values)
        elif name == "event_time":
            merged[name] = min(values, key=lambda v: v["watermark"]) | _ACTIVE
        elif name == "valve":
            merged[name] = _merged_valves(values)
        elif name == "accumulators":
            mine = [v for old, one in enumerate(facts) if old % parallelism == subtask and (v := one.get(name))]
            merged[name] = _merged_accumulators(mine)
        elif name.startswith("split:"):  # event time of a split; only one subtask had it
            merged[name] = values[-1] | _ACTIVE
        else:
            merged[name] = values[-1]
    return merged


def _merged_valves(valves: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a valve for new channels: all start at the slowest old subtask, and will report idleness and the end again."""
    return {
        "marks": {},
        "idle": set(),
        "ended": set(),
        "current": min(valve["current"] for valve in valves),
        "all_idle": False,
        "inputs": {},
    }


def _merged_accumulators(found: list[dict[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for accumulators in found:
        for name, accumulator in accumulators.items():
            if name in merged:
                merged[name].merge(accumulator)
            else:
                merged[name] = accumulator.clone()
    return merged
