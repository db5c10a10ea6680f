"""Tables that are read and written: their sources and sinks, and what stands between these and the query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headrace.table.changelog_mode import ChangelogMode
from headrace.table.plan.conversion.distribution import distributed
from headrace.table.plan.nodes.base import Node
from headrace.table.plan.nodes.ends import Sink
from headrace.table.plan.nodes.simple import Calc, ChangelogNormalize, TableScan
from headrace.table.plan.relations import Scan
from headrace.table.plan.relations import Sink as SinkRelation
from headrace.table.plan.rex import Call, Rex, input_columns, shifted
from headrace.types.logical_types import CharType, RowType, VarCharType
from headrace.types.row import RowKind

if TYPE_CHECKING:
    from headrace.table.plan.conversion.converter import Converter

_UNLIMITED = 2**31 - 1


def scan(to: Converter, relation: Scan) -> Node:
    """Return the node that reads a table."""
    table, settings = relation.table, to.settings
    source = table.source.source(table, relation.options, batch=settings.batch, settings=settings.options)
    names = relation.row_type.field_names()
    key = tuple(names.index(name) for name in table.schema.primary_key if name in names)
    node = TableScan(relation.row_type, (), relation.name, source, None, key, tuple(relation.options))
    mode: ChangelogMode = source.changelog_mode
    upserts = not mode.is_insert_only and not mode.contains(RowKind.UPDATE_BEFORE)
    if key and (upserts or (settings.source_duplicates and not mode.is_insert_only)):
        return distributed(ChangelogNormalize(node.row_type, (node,), key, ttl=settings.ttl))
    return node


def narrowed(calc: Calc) -> Calc:
    """Return a calculation over a source that reads only the columns that are needed, if the source can do that."""
    below = calc.input
    if not isinstance(below, TableScan) or below.columns is not None:
        return calc
    used = set().union(*(input_columns(rex) for rex in calc.expressions))
    used |= set() if calc.condition is None else input_columns(calc.condition)
    columns = tuple(sorted(used))
    if not columns or len(columns) == len(below.row_type):
        return calc
    source = below.source.projected(columns)
    if source is None:
        return calc
    places = {column: place for place, column in enumerate(columns)}
    row_type = RowType(tuple(below.row_type.fields[column] for column in columns), is_nullable=False)
    key = tuple(places[column] for column in below.primary_key if column in places)
    node = replace(
        below,
        row_type=row_type,
        source=source,
        columns=columns,
        primary_key=key if len(key) == len(below.primary_key) else (),
    )
    condition = None if calc.condition is None else shifted(calc.condition, places)
    return replace(calc, inputs=(node,), expressions=_moved(calc.expressions, places), condition=condition)


def _moved(expressions: Sequence[Rex], places: dict[int, int]) -> tuple[Rex, ...]:
    return tuple(shifted(rex, places) for rex in expressions)


def has_watermarks(node: Node, watermark: Rex) -> bool:
    """Return whether the watermark is SOURCE_WATERMARK() and the stream of the source already has them."""
    if not (isinstance(watermark, Call) and watermark.function.name == "SOURCE_WATERMARK"):
        return False
    return any(isinstance(each, TableScan) and each.source.watermarks for each in _upstream(node))


def _upstream(node: Node) -> list[Node]:
    return [node, *(each for below in node.inputs for each in _upstream(below))]


def sink(to: Converter, relation: SinkRelation) -> Node:
    """Return the node that writes a table."""
    table, settings, below = relation.table, to.settings, to.node(relation.input)
    made = table.source.sink(
        table,
        relation.options,
        overwrite=relation.overwrite,
        static_partition=dict(relation.static_partition),
        batch=settings.batch,
        settings=settings.options,
    )
    names = relation.row_type.field_names()
    fields = list(zip(relation.row_type.fields, below.row_type.field_types()))
    not_null = tuple(
        (index, field.name)
        for index, (field, given) in enumerate(fields)
        if not field.data_type.is_nullable and given.is_nullable
    )
    return Sink(
        relation.row_type,
        (below,),
        relation.name,
        made,
        tuple(names.index(name) for name in table.schema.primary_key),
        not_null,
        settings.not_null_enforcer == "DROP",
        _lengths(fields) if settings.length_enforcer == "TRIM_PAD" else (),
        ttl=settings.ttl,
    )


def _lengths(fields: Sequence[tuple[Any, Any]]) -> tuple[tuple[int, int, bool], ...]:
    return tuple(
        (index, field.data_type.length, isinstance(field.data_type, CharType))
        for index, (field, _) in enumerate(fields)
        if isinstance(field.data_type, (CharType, VarCharType)) and field.data_type.length < _UNLIMITED
    )
