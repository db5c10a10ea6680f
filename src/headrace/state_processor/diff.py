"""Compare a savepoint with a program: which state a start would keep, drop, create or change.

The rules are those of a restore: operators match by id, and the savepoint decides the key groups if the program does not.
Nothing is started: functions are opened once on empty state, which shows the states that they declare.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, NamedTuple

import cloudpickle

from headrace.checkpoint.manifests import key_groups_of
from headrace.errors import InvalidProgramError
from headrace.graph.job_graph import JobGraph, JobVertex, build_job_graph, with_key_groups
from headrace.graph.partitioners import KeyGroup
from headrace.graph.specs import SourceSpec
from headrace.graph.stream_graph import StreamGraph, StreamNode
from headrace.operators.clock import SystemClock
from headrace.operators.context import OperatorContext, TaskInfo
from headrace.operators.factory import create_operator
from headrace.state.heap import HeapKeyedBackend
from headrace.state.operator_state import OperatorStateBackend
from headrace.state.state_types import same_type
from headrace.state_processor.reader import OperatorInfo, SavepointReader


@dataclass(frozen=True)
class _ChangedState:
    operator: OperatorInfo
    state: str
    saved: str
    wanted: str


@dataclass(frozen=True)
class ChangedKind(_ChangedState):
    """A state that the program declares with another kind than it was saved with.

    >>> ChangedKind(OperatorInfo("a", "1f", "Process", 1, 128), "count", "ValueState", "ListState").wanted
    'ListState'
    """


@dataclass(frozen=True)
class ChangedType(_ChangedState):
    """A state that the program declares with another type than it was saved with.

    >>> ChangedType(OperatorInfo("a", "1f", "Process", 1, 128), "count", "Long", "String").saved
    'Long'
    """


@dataclass(frozen=True)
class ChangedMaxParallelism:
    """An operator whose state has another number of key groups than the program sets.

    >>> ChangedMaxParallelism(OperatorInfo("a", "1f", "Process", 1, 128), 64).operator.max_parallelism
    128
    """

    operator: OperatorInfo
    wanted: int


@dataclass(frozen=True)
class SavepointDiff:
    """The difference between a savepoint and a program. Print it to read it.

    >>> lost = OperatorInfo("a", "1f", "Process", 1, 128, {"count": "ValueState"})
    >>> diff = SavepointDiff((), (lost,), (), (), (), (), ())
    >>> diff.is_restorable(), diff.is_restorable(allow_non_restored_state=True)
    (False, True)
    """

    kept: tuple[OperatorInfo, ...]
    """Operators with state that the program has too."""
    dropped: tuple[OperatorInfo, ...]
    """Operators with state that the program does not have. A restore fails, or drops their state if that is allowed."""
    new: tuple[str, ...]
    """Operators of the program that the savepoint does not have, by uid or name. They start without state."""
    changed_kinds: tuple[ChangedKind, ...]
    changed_max_parallelism: tuple[ChangedMaxParallelism, ...]
    lost_positions: tuple[str, ...]
    """Sources of the savepoint that the program does not have. A new source reads from its beginning."""
    unchecked: tuple[tuple[OperatorInfo, str], ...]
    """Operators whose function could not be opened, so that the kinds of its states are unknown, and the reason."""
    changed_types: tuple[ChangedType, ...] = ()

    def is_restorable(self, allow_non_restored_state: bool = False) -> bool:
        """Return whether a job of the program can start from the savepoint."""
        if self.changed_kinds or self.changed_types or self.changed_max_parallelism:
            return False
        return allow_non_restored_state or not self.dropped

    def __str__(self) -> str:
        lines = [f"kept     {_shown(o)}: {_states(o)}" for o in self.kept]
        lines += [f"dropped  {_shown(o)}: {_states(o)}" for o in self.dropped]
        lines += [f"new      {name}" for name in self.new]
        lines += [f"changed  {_shown(c.operator)}: {c.state} was saved as {c.saved}, the program declares {c.wanted}"
                  for c in self.changed_kinds]  # fmt: skip
        lines += [f"changed  {_shown(c.operator)}: {c.state} was saved as {c.saved}, the program declares {c.wanted}"
                  for c in self.changed_types]  # fmt: skip
        lines += [f"changed  {_shown(c.operator)}: max parallelism {c.operator.max_parallelism}, the program has {c.wanted}"
                  for c in self.changed_max_parallelism]  # fmt: skip
        lines += [f"lost     positions of the source {name}" for name in self.lost_positions]
        lines += [f"unknown  {_shown(o)}: its function cannot be opened: {why}" for o, why in self.unchecked]
        if self.is_restorable():
            lines.append("A job of this program can start from the savepoint.")
        elif self.is_restorable(allow_non_restored_state=True):
            lines.append("A job of this program can start from the savepoint only if state may be dropped.")
        else:
            lines.append("A job of this program cannot start from the savepoint.")
        return "\n".join(lines)


def savepoint_diff(savepoint: str | SavepointReader, program: Any, trust: bool = False) -> SavepointDiff:
    """Compare a savepoint with a program: an environment with a pipeline, or its stream graph or job graph.

    The functions of operators that have state are opened once, on empty state, and closed again, to find the states that
    they declare. States that a function declares later are not found. Sources and sinks are not opened.

    >>> import tempfile
    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> from headrace.state_processor import SavepointWriter
    >>> writer = SavepointWriter.new().with_keyed_state("sums", "_reduce_state", "table", [("a", ("a", 3))])
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = writer.write(folder.name + "/savepoint")
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> pairs = env.from_collection([("a", 1)]).uid("pairs").key_by(lambda pair: pair[0])
    >>> sink = pairs.reduce(lambda x, y: (x[0], x[1] + y[1])).uid("sums").print().uid("out")
    >>> print(savepoint_diff(path, env))
    kept     sums: _reduce_state (table)
    new      pairs
    new      out
    A job of this program can start from the savepoint.
    >>> folder.cleanup()
    """
    reader = savepoint if isinstance(savepoint, SavepointReader) else SavepointReader.read(savepoint, trust)
    manifest = reader.origin.manifest
    graph = with_key_groups(_job_graph(program), key_groups_of(manifest))
    wanted = {node.operator_id: (vertex, node) for vertex in graph.vertices.values() for node in vertex.nodes}
    saved = {operator.id: operator for operator in reader.operators()}
    stateful = [operator for operator in saved.values() if operator.id in manifest.facts.get("states", {})]
    kept = [operator for operator in stateful if operator.id in wanted]
    changed: list[ChangedKind] = []
    retyped: list[ChangedType] = []
    unchecked: list[tuple[OperatorInfo, str]] = []
    for operator in kept:
        try:
            declared = declared_states(graph, *wanted[operator.id])
        except Exception as error:
            reason = error.__cause__ or error  # the function's own error
            unchecked.append((operator, f"{type(reason).__name__}: {reason}".splitlines()[0]))
            continue
        kinds = _changed_kinds(operator, declared)
        changed += kinds
        other_kind = {change.state for change in kinds}  # a restore rejects these before it checks types
        retyped += [c for c in _changed_types(operator, reader, declared) if c.state not in other_kind]
    return SavepointDiff(
        kept=tuple(kept),
        dropped=tuple(operator for operator in stateful if operator.id not in wanted),
        new=tuple(node.uid or node.name for o, (_, node) in wanted.items() if o not in saved),
        changed_kinds=tuple(changed),
        changed_max_parallelism=tuple(
            ChangedMaxParallelism(operator, wanted[operator.id][0].max_parallelism)
            for operator in kept
            if operator.max_parallelism != wanted[operator.id][0].max_parallelism
        ),
        lost_positions=tuple(
            _shown(saved[v]) if v in saved else v
            for v, splits in manifest.positions.items()
            if splits and v not in graph.vertices
        ),
        unchecked=tuple(unchecked),
        changed_types=tuple(retyped),
    )


_OPERATOR_STATE = ("operator ListState", "operator UnionListState", "BroadcastState")


def _changed_kinds(operator: OperatorInfo, declared: DeclaredStates) -> list[ChangedKind]:
    """Compare kinds. Keyed and operator states have separate namespaces, so compare each with its own sort."""
    changed = []
    for name, kind in operator.states.items():
        wanted = (declared.operator_kinds if kind in _OPERATOR_STATE else declared.keyed_kinds).get(name, kind)
        if wanted != kind:
            changed.append(ChangedKind(operator, name, kind, wanted))
    return changed


def _changed_types(operator: OperatorInfo, reader: SavepointReader, declared: DeclaredStates) -> list[ChangedType]:
    saved_types = zip(reader.state_types(operator.id), (declared.keyed_types, declared.operator_types), strict=True)
    return [
        ChangedType(operator, name, saved, wanted[name])
        for types, wanted in saved_types
        for name, saved in types.items()
        if name in wanted and not same_type(saved, wanted[name])
    ]


def _job_graph(program: Any) -> JobGraph:
    if isinstance(program, JobGraph):
        return program
    if isinstance(program, StreamGraph):
        return build_job_graph(program)
    if callable(getattr(program, "get_job_graph", None)):
        graph: JobGraph = program.get_job_graph()
        return graph
    raise InvalidProgramError("This is not a program", seen=program, expected="an environment, or its graph")


def _shown(operator: OperatorInfo) -> str:
    return operator.uid or f"{operator.name} ({operator.id})"


def _states(operator: OperatorInfo) -> str:
    return ", ".join(f"{name} ({kind})" for name, kind in sorted(operator.states.items()))


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
