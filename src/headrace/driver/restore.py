"""Restores a ledger from a checkpoint or savepoint, and refuses one that does not fit the program.

A job with the same tasks as before continues with the same files. Otherwise its tasks inherit: each new task reads the
files of all old tasks that shared operators with it.

`Recovery` begins a job from its last checkpoint, from a savepoint, or from the start, and aborts what a failure has voided.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from headrace.checkpoint import manifests
from headrace.checkpoint.driver import FINISHED, Checkpoints
from headrace.checkpoint.model import Origin
from headrace.config.checkpoint_settings import DurabilitySettings
from headrace.driver.collected_output import CollectedOutput
from headrace.driver.current_job import CurrentJob
from headrace.driver.events import Begun, Event
from headrace.driver.instructions import Begin, GiveUpProgress
from headrace.driver.ledger import Ledger
from headrace.driver.rescaling import Deployment
from headrace.graph.epoch_plan import EpochPlan
from headrace.graph.job_graph import JobGraph
from headrace.monitoring.job_monitor import JobMonitor
from headrace.operators.source import SplitPosition
from headrace.worker.messages import Inheritance, OldSubtask, TaskOwner, VertexReport


def start(
    ledger: Ledger,
    graph: JobGraph,
    plan: EpochPlan,
    origin: Origin,
    positions: dict[str, list[SplitPosition]] | None = None,
) -> None:
    """Set a new ledger to the state of the manifest. `positions`: those of its sources, if newer ones are known."""
    manifest = origin.manifest
    layout: dict[str, Any] = dict(manifest.facts.get("layout", {}))
    wanted = manifests.layout_of(graph, plan)
    _check_claimed(origin, wanted)
    _check_key_groups(layout, wanted, set(manifest.facts.get("states", {})))
    _check_shapes(layout, wanted, set(manifest.facts.get("states", {})))
    positions = manifests.unpacked_positions(manifest) if positions is None else positions
    files = manifests.files_by_owner(manifest)
    # Files of the first format can be forged to match their checksums: their state is rewritten at once.
    if origin.own and _cut(layout) == _cut(wanted) and manifests.has_strong_sums(manifest):
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


def _cut(layout: dict[str, Any]) -> dict[str, Any]:
    """Return what must be equal for tasks to continue with the same files. The dicts of a manifest have lost their order."""
    return {v: (group["parallelism"], sorted(group["operators"]), group.get("inputs")) for v, group in layout.items()}


def check_inputs(graph: JobGraph, reports: Mapping[TaskOwner, VertexReport]) -> None:
    """Check, after the first epoch, that no vertex gets input after it has already seen the end of all its input."""
    for vertex in graph.vertices.values():
        if not all(reports[vertex.id, i].ended for i in range(vertex.parallelism)):
            continue
        for edge in graph.in_edges(vertex.id):
            upstream = graph.vertices[edge.source]
            if not all(reports[upstream.id, i].ended for i in range(upstream.parallelism)):
                raise manifests.IncompatibleStateError(
                    f"{vertex.name!r} had seen the end of all its input, and now gets input from {upstream.name!r}",
                    remedy="start it without its state: give it another uid, and allow non-restored state.",
                )


def _check_claimed(origin: Origin, wanted: dict[str, Any]) -> None:
    known = {operator for group in wanted.values() for operator in group["operators"]}
    states: dict[str, Any] = dict(origin.manifest.facts.get("states", {}))
    lost = [operator for operator in states if operator not in known]
    if lost and not origin.ignore_unclaimed:
        raise manifests.IncompatibleStateError(
            f"The program has no operator for the state of {manifests.operator_names(origin.manifest, lost)}",
            seen=f"state of {len(lost)} operators that the program does not have",
            remedy="give operators the uid they had, or restore with allow-non-restored-state to drop it.",
        )


def _check_key_groups(layout: dict[str, Any], wanted: dict[str, Any], stateful: set[str]) -> None:
    before = {o: f for group in layout.values() for o, f in group["operators"].items() if o in stateful}
    for group in wanted.values():
        for operator_id, facts in group["operators"].items():
            old = before.get(operator_id)
            if old is not None and old["max_parallelism"] != facts["max_parallelism"]:
                raise manifests.IncompatibleStateError(
                    f"The state of {facts['name']!r} is cut into another number of key groups",
                    seen=facts["max_parallelism"],
                    expected=str(old["max_parallelism"]),
                    remedy=f"set_max_parallelism({old['max_parallelism']})",
                )


def _check_shapes(layout: dict[str, Any], wanted: dict[str, Any], stateful: set[str]) -> None:
    """Check that operators of tables find state that they can read: a query or a time to live may have changed."""
    before = {o: f for group in layout.values() for o, f in group["operators"].items() if o in stateful}
    for group in wanted.values():
        for operator_id, facts in group["operators"].items():
            old = before.get(operator_id, {}).get("shape")
            if old is not None and old != facts.get("shape"):
                other = before[operator_id]["name"]
                raise manifests.IncompatibleStateError(
                    f"The query or an option of it has changed: {facts['name']!r} cannot use the state of {other!r}",
                    seen=facts.get("shape"),
                    expected=old,
                    remedy="restore it with the query that it was taken of, or start the changed query without state.",
                )


_log = logging.getLogger("headrace")


@dataclass(eq=False, repr=False)
class Recovery:
    """Performs `Begin` and `GiveUpProgress`."""

    job: CurrentJob
    checkpoints: Checkpoints
    durability: DurabilitySettings
    deployment: Deployment
    monitor: JobMonitor
    results: CollectedOutput

    def begin(self, instruction: Begin) -> Iterable[Event]:
        """Recover the last checkpoint and make the ledger that continues from it."""
        durability, checkpoints, program = self.durability, self.checkpoints, self.job.program
        origin = program.origin
        staged = origin is not None and bool(origin.manifest.committables)
        takes_over = durability.periodic or durability.job_id is not None or checkpoints.commits or staged
        manifest = checkpoints.recover(origin) if takes_over else None
        if manifest is not None and durability.periodic:
            origin = Origin(manifest, checkpoints.files)
            self.results.recovered(manifest.epoch)
        else:
            self.results.drop()
        self.deployment.ensure(program)
        self.job.ledger = ledger = self.job.new_ledger(program)
        ledger.restarts = instruction.attempt
        self.monitor.begin(program.graph, instruction.attempt)
        self.job.restored = origin is not None
        if origin is not None:
            start(ledger, program.graph, program.plan, origin)
            checkpoints.statistics.restored()
        yield Begun(finished=manifest is not None and bool(manifest.facts.get(FINISHED)))

    def give_up_progress(self, instruction: GiveUpProgress) -> Iterable[Event]:
        """Abort what sinks have staged since the last checkpoint: it is computed again."""
        name, delay = self.job.name, instruction.delay
        _log.warning("headrace: %r restarts in %.1f s: %s", name, delay, instruction.error.message)
        try:
            self.checkpoints.abandon(self.job.ledger)
        except Exception as error:
            _log.warning("headrace: %r could not abort the output staged since its last checkpoint: %s", name, error)
        return ()
