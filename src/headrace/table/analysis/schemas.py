"""Schemas of CREATE TABLE: columns with types, computed and metadata columns, watermark, primary key, LIKE and AS."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from headrace.table.analysis.catalog_view import (
    ColumnKind,
    ResolvedColumn,
    ResolvedSchema,
    ResolvedTable,
    ResolvedWatermark,
)
from headrace.table.analysis.context import Context
from headrace.table.analysis.errors import invalid, unknown
from headrace.table.analysis.expressions import Expressions
from headrace.table.analysis.scopes import Namespace, Scope
from headrace.table.analysis.time_attributes import plain
from headrace.table.analysis.types import logical_type
from headrace.table.functions.type_text import sql_text
from headrace.table.plan.rex import Rex
from headrace.table.sql.syntax import tables
from headrace.table.sql.syntax.expressions import Expression
from headrace.types.logical_types import DataType, LocalZonedTimestampType, RowType, TimestampType

_MAX_TIME_PRECISION = 3

TextOf = Callable[[Expression], str | None]


@dataclass(frozen=True)
class _Declared:
    """The elements of a schema by their kind."""

    columns: tuple[tables.PhysicalColumn | tables.ComputedColumn | tables.MetadataColumn, ...]
    watermarks: tuple[tables.Watermark, ...]
    constraints: tuple[tables.Constraint, ...]


def _declared(elements: Iterable[tables.Element]) -> _Declared:
    elements = tuple(elements)
    kinds = (tables.PhysicalColumn, tables.ComputedColumn, tables.MetadataColumn)
    columns = tuple(each for each in elements if isinstance(each, kinds))
    constraints = [each for each in elements if isinstance(each, tables.Constraint)]
    for column in columns:
        if isinstance(column, tables.PhysicalColumn) and column.constraint is not None:
            constraints.append(replace(column.constraint, columns=(column.name[-1],)))
    watermarks = tuple(each for each in elements if isinstance(each, tables.Watermark))
    return _Declared(columns, watermarks, tuple(constraints))


def resolve_schema(
    context: Context, elements: Iterable[tables.Element], base: ResolvedSchema | None = None, text: str | None = None
) -> ResolvedSchema:
    """Return the schema that elements of CREATE TABLE declare, behind the columns of `base` (of LIKE or AS)."""
    declared = _declared(elements)
    kept = base if base is not None else ResolvedSchema(())
    columns = _physical(declared, kept)
    source = ResolvedSchema(tuple(columns)).source_type
    computed = [
        _computed(context, column, each, source, text) if isinstance(each, tables.ComputedColumn) else column
        for column, each in columns.items()
    ]
    schema = ResolvedSchema(tuple(computed), kept.watermark, kept.primary_key, kept.primary_key_name)
    schema = _with_primary_key(schema, declared.constraints)
    return _with_watermark(context, schema, declared.watermarks, text)


_Element = tables.PhysicalColumn | tables.ComputedColumn | tables.MetadataColumn | None


def _physical(declared: _Declared, base: ResolvedSchema) -> dict[ResolvedColumn, _Element]:
    found: dict[ResolvedColumn, _Element] = dict.fromkeys(base.columns)
    names = {column.name for column in base.columns}
    for each in declared.columns:
        name = each.name[-1]
        if name in names:
            raise invalid(f"Column '{name}' is declared twice", each.position)
        names.add(name)
        if isinstance(each, tables.ComputedColumn):
            from headrace.types.logical_types import NullType

            column = ResolvedColumn(name, NullType(), ColumnKind.COMPUTED, comment=each.comment)
        elif isinstance(each, tables.MetadataColumn):
            kind = logical_type(each.type)
            column = ResolvedColumn(name, kind, ColumnKind.METADATA, None, each.key, each.virtual, each.comment)
        else:
            column = ResolvedColumn(name, logical_type(each.type), comment=each.comment)
        found[column] = each
    return found


def schema_scope(row: RowType) -> Scope:
    """Return the scope of the expressions of a schema."""
    return Scope(row, (Namespace((), 0, tuple(row.field_names())),))


def _computed(
    context: Context, column: ResolvedColumn, node: tables.ComputedColumn, source: RowType, text: str | None
) -> ResolvedColumn:
    clause = f"the computed column '{column.name}'"
    expressions = Expressions(context, schema_scope(source), no_aggregates=clause)
    value = expressions.rex(node.expression)
    return replace(column, type=value.type, expression=value)


def _with_primary_key(schema: ResolvedSchema, constraints: tuple[tables.Constraint, ...]) -> ResolvedSchema:
    for each in constraints:
        if each.kind != "PRIMARY KEY":
            raise invalid(
                "UNIQUE constraints are not supported", each.position, "declare a PRIMARY KEY ... NOT ENFORCED"
            )
        if each.enforced is not False:
            remedy = "write PRIMARY KEY (...) NOT ENFORCED: the table's data is not owned here, so it cannot be checked"
            raise invalid("A primary key must be NOT ENFORCED", each.position, remedy)
    if not constraints:
        return schema
    if len(constraints) > 1 or schema.primary_key:
        raise invalid("A table can have only one primary key", constraints[-1].position)
    [key] = constraints
    by_name = {column.name: column for column in schema.columns}
    for name in key.columns:
        column = by_name.get(name)
        if column is None:
            raise unknown("column", name, by_name, key.position)
        if column.kind is not ColumnKind.PHYSICAL:
            raise invalid(f"Column '{name}' of the primary key is not a physical column", key.position)
    if len(set(key.columns)) != len(key.columns):
        raise invalid("The primary key names a column twice", key.position)
    columns = tuple(
        replace(column, type=column.type.not_null()) if column.name in key.columns else column
        for column in schema.columns
    )
    return replace(schema, columns=columns, primary_key=key.columns, primary_key_name=key.name)


def _with_watermark(
    context: Context, schema: ResolvedSchema, watermarks: tuple[tables.Watermark, ...], text: str | None
) -> ResolvedSchema:
    if not watermarks:
        return schema
    if len(watermarks) > 1:
        raise invalid("A table can have only one watermark", watermarks[-1].position)
    [node] = watermarks
    names = [column.name for column in schema.columns]
    if len(node.column) > 1:
        raise invalid("The column of a watermark must be a column of the table, not a field", node.position)
    if node.column[0] not in names:
        raise unknown("column", node.column[0], names, node.position)
    index = names.index(node.column[0])
    kind = schema.columns[index].type
    check_time_column(names[index], kind, node.position)
    row = replace(schema, watermark=None).row_type
    value = Expressions(context, schema_scope(row), no_aggregates="WATERMARK").rex(node.expression)
    if not isinstance(value.type, (TimestampType, LocalZonedTimestampType)):
        message = f"The watermark must be a TIMESTAMP or TIMESTAMP_LTZ, not {sql_text(value.type)}"
        raise invalid(message, node.expression.position)
    return replace(schema, watermark=ResolvedWatermark(index, value))


def check_time_column(name: str, kind: DataType, position: int = -1) -> None:
    """Raise an error unless a column can be event time: TIMESTAMP or TIMESTAMP_LTZ with at most milliseconds."""
    if (
        not isinstance(kind, (TimestampType, LocalZonedTimestampType))
        or kind.precision > _MAX_TIME_PRECISION
        or kind.time_attribute is not None
    ):
        message = f"The watermark column '{name}' must be TIMESTAMP(p) or TIMESTAMP_LTZ(p) with p up to 3"
        raise invalid(f"{message}, not {sql_text(kind)}", position, "cast it in a computed column")


# -- LIKE -------------------------------------------------------------------------------------------------------------

_FEATURES = ("CONSTRAINTS", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS", "DISTRIBUTION")
_USUAL = {
    "OPTIONS": "OVERWRITING",
    "WATERMARKS": "INCLUDING",
    "GENERATED": "INCLUDING",
    "METADATA": "INCLUDING",
    "PARTITIONS": "INCLUDING",
    "CONSTRAINTS": "INCLUDING",
    "DISTRIBUTION": "INCLUDING",
}


def like_rules(clause: tables.LikeClause) -> dict[str, str]:
    """Return what LIKE does with each part of a table: INCLUDING, EXCLUDING or OVERWRITING.

    >>> like_rules(tables.LikeClause(("t",), (("EXCLUDING", "ALL"), ("INCLUDING", "OPTIONS"))))["OPTIONS"]
    'INCLUDING'
    """
    rules = dict(_USUAL)
    for strategy, feature in clause.rules:
        if feature == "ALL":
            rules = dict.fromkeys(_FEATURES, strategy)
    return rules | {feature: strategy for strategy, feature in clause.rules if feature != "ALL"}


def like_base(table: ResolvedTable, rules: dict[str, str], declared: Iterable[tables.Element]) -> ResolvedSchema:
    """Return what a new table takes over from the schema of another one."""
    overwritten = {each.name[-1] for each in _declared(declared).columns}
    columns = []
    for column in table.schema.columns:
        feature = {ColumnKind.COMPUTED: "GENERATED", ColumnKind.METADATA: "METADATA"}.get(column.kind)
        strategy = rules[feature] if feature is not None else "INCLUDING"
        replaced = strategy == "OVERWRITING" and column.name in overwritten
        if strategy != "EXCLUDING" and not replaced:
            columns.append(column)
    schema = table.schema
    watermark = schema.watermark if rules["WATERMARKS"] != "EXCLUDING" else None
    if rules["WATERMARKS"] == "OVERWRITING" and _declared(declared).watermarks:
        watermark = None
    if watermark is not None and len(columns) != len(schema.columns):
        watermark = None
    key = schema.primary_key if rules["CONSTRAINTS"] != "EXCLUDING" else ()
    return ResolvedSchema(tuple(columns), watermark, key, schema.primary_key_name if key else None)


def schema_of_row(row: RowType) -> ResolvedSchema:
    """Return the schema of CREATE TABLE AS: the columns of the query, without time attributes."""
    return ResolvedSchema(tuple(ResolvedColumn(each.name, plain(each.data_type)) for each in row.fields))


def computed_value(column: ResolvedColumn) -> Rex:
    """Return the expression of a computed column."""
    assert column.expression is not None
    return column.expression
