"""Adds the operators of a plan to an environment: exchanges, parallelism, names and ids.

- An exchange is a view of its input, by key group; nodes without keys run with parallelism 1 behind it.
- Any other node runs with the parallelism of its input, so that rows keep their order.
- Equal parts of plans are added once.
- Ids come from the place of a node in the plan of its sink, so that savepoints fit the same statement again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.graph import partitioners
from headrace.graph import table_specs as specs
from headrace.graph.specs import OperatorSpec
from headrace.graph.transformations import Transformation, TransformationKind
from headrace.table.plan.changelog import mode_of
from headrace.table.plan.describe import Text, description
from headrace.table.plan.nodes import ends, simple
from headrace.table.plan.nodes.base import Node
from headrace.table.plan.rex import InputRef, Literal
from headrace.table.plan.settings import PlanSettings
from headrace.table.plan.translation.specs import Specs
from headrace.types.logical_types import RowField, RowType, TinyIntType

if TYPE_CHECKING:
    from headrace.datastream import DataStream, StreamExecutionEnvironment

_LONGEST_NAME = 100
_COUNTED = re.compile(r"\$\d+$|(?<=^Unregistered_DataStream_Source)_\d+$|(?<=^\*anonymous)_\d+(?=\*$)")
"""Numbers of tables without a name count through a process. Ids must be the same in the next one."""


@dataclass(frozen=True)
class TableStream:
    """The rows of a query as a stream in internal form; with `kinds`, each row ends with the kind of its change."""

    stream: DataStream
    row_type: RowType
    kinds: bool


class Translator:
    """Adds plans to one environment."""

    def __init__(self, env: StreamExecutionEnvironment, settings: PlanSettings) -> None:
        """Operators go to the registry of `env`."""
        self._env, self._settings, self._specs = env, settings, Specs(settings)
        self._known: dict[int, tuple[Node, DataStream]] = {}
        self._uids = {t.uid for t in env.registry.program() if t.uid is not None}
        self._root, self._number = "query", 0

    def query(self, node: Node, name: str = "query") -> TableStream:
        """Add the plan of a query."""
        self._root, self._number = name, 0
        return TableStream(self._stream(node), node.row_type, not node.insert_only)

    def sink(self, node: ends.Sink) -> Any:
        """Add the plan of an INSERT. Return the handle of its sink."""
        self._root, self._number = node.name[-1], 0
        stream = self._stream(node.input)
        stream, kinds = self._checked(stream, node), not node.input.insert_only
        if node.materialize:
            stream = self._materialized(stream if kinds else self._with_kinds(stream, node.input), node)
        elif not kinds and not node.sink.changelog_mode(mode_of(node.input)).is_insert_only:
            stream = self._with_kinds(stream, node.input)
        before = {t.id for t in self._env.registry}
        handle = node.sink.consume(stream, node.name[-1])
        made = [t for t in self._env.registry if t.id not in before and t.kind is TransformationKind.OPERATOR]
        self._keep_order(stream, made)
        for t in made:
            if t.uid is None:  # an id that the graph is hashed into would change with the query
                self._env.registry.update(t.id, uid=self._uid("Sink"))
        return handle

    def _keep_order(self, stream: DataStream, made: list[Transformation]) -> None:
        """Let the operators of a sink run with the parallelism of its input: changes of a key must not overtake."""
        parallelism, _ = self._parallelism([stream])
        if parallelism is None:
            return
        for t in made:
            if t.parallelism is None:
                self._env.registry.update(t.id, parallelism=parallelism)

    # -- nodes ----------------------------------------------------------------------------------------------------

    def _stream(self, node: Node) -> DataStream:
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = (node, self._added(node))
        return known[1]

    def _added(self, node: Node) -> DataStream:
        match node:
            case simple.Values(rows=rows):
                stream = self._env.from_collection(list(rows)).name("Values")
                return stream.uid(self._uid("Values"))
            case simple.TableScan(source=source, name=name):
                return self._source(source.stream(self._env, name[-1]))
            case simple.Exchange():
                return self._exchange(node)
            case simple.Union():
                return self._union(node)
        return self._operator([self._stream(each) for each in node.inputs], self._specs.of(node), node)

    def _source(self, stream: DataStream) -> DataStream:
        """Give the operators of a source ids, unless the connector has done so."""
        registry, waiting = self._env.registry, [stream.transformation_id]
        while waiting:
            t = registry.get(waiting.pop())
            if t.kind is TransformationKind.OPERATOR and t.uid is None:
                registry.update(t.id, uid=self._uid(_COUNTED.sub("", t.name.removeprefix("Source: "))))
            waiting += t.inputs
        return stream

    def _exchange(self, node: simple.Exchange) -> DataStream:
        below = self._stream(node.input)
        return self._view(below, partitioners.KeyGroup(specs.TableKey(node.columns)))

    def _view(self, stream: DataStream, partitioner: partitioners.Partitioner) -> DataStream:
        from headrace.datastream import DataStream

        registry = self._env.registry
        view = registry.add(
            TransformationKind.PARTITION, (stream.transformation_id,), partitioner=partitioner, name="Partition"
        )
        return DataStream(self._env, view)

    def _union(self, node: simple.Union) -> DataStream:
        streams = [
            self._with_kinds(self._stream(each), each)
            if each.insert_only and not node.insert_only
            else self._stream(each)
            for each in node.inputs
        ]
        # A stream that is united with itself needs an operator in between, because edges are sets.
        return streams[0].union(*streams[1:])

    # -- sinks ----------------------------------------------------------------------------------------------------

    def _checked(self, stream: DataStream, node: ends.Sink) -> DataStream:
        if not node.not_null and not node.lengths:
            return stream
        spec = specs.CheckNotNull(
            node.not_null,
            node.drop_nulls,
            not node.input.insert_only,
            node.lengths,
            types=(node.input.row_type,),
            output_type=node.input.row_type,
        )
        names = ", ".join(name for _, name in node.not_null)
        return self._operator([stream], spec, None, "ConstraintEnforcer", text=f"ConstraintEnforcer[{names}]")

    def _materialized(self, stream: DataStream, node: ends.Sink) -> DataStream:
        kinds: dict[str, Any] = {"types": (node.input.row_type,), "output_type": node.input.row_type}
        spec = specs.SinkMaterialize(node.primary_key, node.upsert_key, node.ttl, **kinds)
        view = self._view(stream, partitioners.KeyGroup(specs.TableKey(node.primary_key)))
        return self._operator([view], spec, None, "SinkMaterializer")

    def _with_kinds(self, stream: DataStream, node: Node) -> DataStream:
        """Add the kind +I to rows that are only added."""
        tiny = TinyIntType(is_nullable=False)
        fields = node.row_type.fields
        columns = [InputRef(field.data_type, index) for index, field in enumerate(fields)]
        program = self._specs.program((*columns, Literal(tiny, specs.INSERT)), None, node.row_type)
        kind = RowType((*fields, RowField("$kind", tiny)), is_nullable=False)
        spec = specs.Calc(program, False, types=(node.row_type,), output_type=kind)
        return self._operator([stream], spec, None, "AddKind", text="Calc(add the kind +I)")

    # -- operators ------------------------------------------------------------------------------------------------

    def _operator(
        self,
        streams: Sequence[DataStream],
        spec: OperatorSpec,
        node: Node | None,
        label: str | None = None,
        text: str | None = None,
    ) -> DataStream:
        from headrace.datastream import DataStream

        label = label or (node.label if node is not None else spec.label)
        shown = text or (description(node, Text()) if node is not None else label)
        registry = self._env.registry
        parallelism, single = self._parallelism(streams)
        number = registry.add(
            TransformationKind.OPERATOR,
            tuple(each.transformation_id for each in streams),
            spec=spec,
            name=shown if len(shown) <= _LONGEST_NAME else f"{shown[: _LONGEST_NAME - 3]}...",
            description=shown,
            uid=self._uid(label),
            parallelism=parallelism,
            non_parallel=single,
        )
        return DataStream(self._env, number)

    def _parallelism(self, streams: Sequence[DataStream]) -> tuple[int | None, bool]:
        """Return the parallelism of an operator behind streams, and whether it must be 1."""
        registry = self._env.registry
        t = registry.get(streams[0].transformation_id)
        if t.kind is TransformationKind.PARTITION and isinstance(t.partitioner, partitioners.KeyGroup):
            selector = t.partitioner.selector
            return (1, True) if isinstance(selector, specs.TableKey) and not selector.columns else (None, False)
        found: set[int | None] = set()
        waiting = [each.transformation_id for each in streams]
        while waiting:
            t = registry.get(waiting.pop())
            if t.kind is TransformationKind.OPERATOR:
                found.add(1 if t.non_parallel else t.parallelism)
            else:
                waiting += t.inputs
        # Streams of different parallelism meet in one subtask: dividing them could reorder the changes of a key.
        return (found.pop() if len(found) == 1 else 1), False

    def _uid(self, label: str) -> str:
        self._number += 1
        base = f"{self._root}/{self._number}-{label}"
        uid, again = base, 1
        while uid in self._uids:
            again += 1
            uid = f"{base}#{again}"
        self._uids.add(uid)
        return uid
