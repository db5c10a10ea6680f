"""INSERT: which column of the query goes where in the sink, with the casts that Flink adds by itself."""

from __future__ import annotations

from collections.abc import Sequence

from headrace.table.analysis import casts
from headrace.table.analysis.catalog_view import ResolvedTable
from headrace.table.analysis.context import Context
from headrace.table.analysis.decorrelation import refs
from headrace.table.analysis.errors import invalid, unknown
from headrace.table.analysis.expressions import Expressions
from headrace.table.analysis.scopes import Scope, row_of
from headrace.table.analysis.tables import NO_SCOPE
from headrace.table.analysis.time_attributes import plain
from headrace.table.functions.type_rules import can_cast_implicitly, same_type
from headrace.table.functions.type_text import sql_text
from headrace.table.plan.relations import Project, Relation, Sink
from headrace.table.plan.rex import Literal, Rex
from headrace.table.sql.syntax.statements import Insert
from headrace.types.logical_types import DataType, RowType


def insert(context: Context, node: Insert) -> Sink:
    """Return the sink of an INSERT statement."""
    table = context.catalog.resolve(node.table)
    if table is None:
        raise unknown("table", ".".join(node.table), context.catalog.table_names(), node.position)
    if table.is_view:
        raise invalid(f"'{'.'.join(node.table)}' is a view; INSERT needs a table", node.position)
    static = _static_partition(context, node, table)
    relation = context.query(node.query)
    columns = tuple(name[-1] for name in node.columns)
    options = tuple(pair for hint in node.hints if hint.name.upper() == "OPTIONS" for pair in hint.options)
    return sink(relation, table, columns, static, node.overwrite, options, node.position)


def sink(
    relation: Relation,
    table: ResolvedTable,
    columns: Sequence[str] = (),
    static: Sequence[tuple[str, Rex]] = (),
    overwrite: bool = False,
    options: tuple[tuple[str, str], ...] = (),
    position: int = -1,
) -> Sink:
    """Return the sink that writes a relation to a table: to the given columns, or to all in their order."""
    target = table.schema.sink_type
    values = _placed(relation, target, tuple(columns), dict(static), table, position)
    cast = [
        _cast(value, field.data_type, field.name, table, position)
        for value, field in zip(values, target.fields, strict=True)
    ]
    row = row_of(target.field_names(), [each.type for each in cast])
    source = relation if tuple(cast) == refs(relation) else Project(row, relation, tuple(cast))
    constants = tuple((name, value.value) for name, value in static if isinstance(value, Literal))
    return Sink(target, source, table.name, table, overwrite, constants, options)


def _placed(
    relation: Relation,
    target: RowType,
    columns: tuple[str, ...],
    static: dict[str, Rex],
    table: ResolvedTable,
    position: int,
) -> list[Rex]:
    """Return a value for each column of the sink; null for those that the statement does not name."""
    names = target.field_names()
    for name in columns:
        if name not in names:
            raise unknown("column", name, names, position)
        if columns.count(name) > 1:
            raise invalid(f"Column '{name}' is named twice", position)
    written = list(columns) if columns else [name for name in names if name not in static]
    found = refs(relation)
    if len(found) != len(written):
        remedy = None if columns else f"the columns of '{'.'.join(table.name)}' are: {', '.join(written)}"
        message = f"The query has {len(found)} columns, but {len(written)} are to be written"
        raise invalid(f"{message} to '{'.'.join(table.name)}'", position, remedy)
    given = dict(zip(written, found, strict=True)) | static
    return [
        given[each.name] if each.name in given else Literal(each.data_type.nullable(), None) for each in target.fields
    ]


def _cast(value: Rex, kind: DataType, name: str, table: ResolvedTable, position: int) -> Rex:
    source = plain(value.type)
    if isinstance(value, Literal) and value.value is None and not kind.is_nullable:
        raise invalid(f"Column '{name}' is NOT NULL and needs a value", position)
    if same_type(source, plain(kind)):
        return value
    if not can_cast_implicitly(source, plain(kind)):
        message = f"Column '{name}' of '{'.'.join(table.name)}' is {sql_text(kind)}, the query has {sql_text(source)}"
        raise invalid(message, position, f"write CAST(... AS {sql_text(kind.nullable())})")
    return casts.cast(value, plain(kind))


def _static_partition(context: Context, node: Insert, table: ResolvedTable) -> list[tuple[str, Rex]]:
    expressions = Expressions(context, Scope(NO_SCOPE.row_type, ()), no_aggregates="PARTITION")
    kinds = dict(zip(table.schema.sink_type.field_names(), table.schema.sink_type.field_types(), strict=True))
    found = []
    for name, value in node.partition:
        if name not in table.partitioned_by:
            raise unknown("partition column", name, table.partitioned_by, node.position)
        if value is not None:
            found.append((name, casts.cast(expressions.rex(value), kinds[name])))
    return found
