"""What methods of tables mean: queries over their relations, which the analyser of SQL resolves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.table.analysis.errors import invalid, unknown
from headrace.table.analysis.inline import InlineField, InlineRelation
from headrace.table.analysis.tables import renamed
from headrace.table.api import nodes
from headrace.table.plan.relations import Relation
from headrace.table.sql.syntax import expressions as syntax
from headrace.table.sql.syntax import queries
from headrace.table.table_expressions import Translation, given_node
from headrace.table.table_names import chosen, name_of
from headrace.types.logical_types import RowType

if TYPE_CHECKING:
    from headrace.table.table import Table

Item = tuple[str | None, syntax.Expression]
"""A column of a select list, with the name that it has by itself."""


def columns_of(table: Table) -> list[str]:
    """Return the names of a table's columns."""
    return table.relation.row_type.field_names()


def items(table: Table, fields: Sequence[Any], translation: Translation, what: str) -> list[Item]:
    """Return the columns of a select list, with choices of columns and rows to flatten expanded."""
    found: list[Item] = []
    for given in fields:
        node = given_node(given, what)
        if isinstance(node, syntax.Identifier) and node.names == ("*",):
            node = nodes.ColumnChoice((), excluded=True)
        names = chosen(node, translation.columns)
        if names is not None:
            found += [(name, syntax.Identifier((name,))) for name in names]
        elif isinstance(node, nodes.Flattened):
            found += _flattened(table, node, translation)
        else:
            found.append((name_of(node), translation.one(node)))
    return found


def _flattened(table: Table, node: nodes.Flattened, translation: Translation) -> list[Item]:
    value = translation.one(node.value)
    name = name_of(node.value)
    kind = analysed(table, ((None, value),)).row_type.fields[0].data_type
    if not isinstance(kind, RowType):
        return [(name, value)]
    prefix = "" if name is None else f"{name}$"
    return [(f"{prefix}{each}", InlineField(value, each)) for each in kind.field_names()]


def analysed(table: Table, columns: Sequence[Item], **clauses: Any) -> Relation:
    """Return the relation of a SELECT over a table."""
    listed = tuple(queries.SelectItem(value, name) for name, value in columns)
    source = clauses.pop("source", InlineRelation(table.relation))
    return table.t_env.session.analyse(queries.Select(listed, source, **clauses))


def named(columns: Sequence[Item], unnamed: str) -> list[Item]:
    """Return columns that all have names, which must differ."""
    count = iter(range(len(columns)))
    found: list[Item] = [(f"{unnamed}{next(count)}" if name is None else name, value) for name, value in columns]
    unique([str(name) for name, _ in found])
    return found


def unique(names: Sequence[str]) -> None:
    """Raise an error if a name occurs twice."""
    for place, name in enumerate(names):
        if name in names[:place]:
            raise invalid(f"Ambiguous column name: {name}", remedy="give one of the columns another name with alias()")


# -- rows and columns -------------------------------------------------------------------------------------------------


def selected(table: Table, fields: Sequence[Any], translation: Translation, **clauses: Any) -> Relation:
    """Return the relation of `select`."""
    if not fields:
        raise InvalidProgramError("select takes at least one expression")
    columns = items(table, fields, translation, "select")
    aggregated = clauses.get("group_by") is not None or any(_aggregates(table, value) for _, value in columns)
    return analysed(table, named(columns, "EXPR$" if aggregated else "_c"), **clauses)


def _aggregates(table: Table, node: Any) -> bool:
    """Return whether a node calls an aggregate function outside of an OVER window."""
    from dataclasses import fields, is_dataclass

    from headrace.table.functions.definition import AggregateFunction
    from headrace.table.functions.registry import aggregate_functions

    if isinstance(node, (syntax.Over, Relation)):
        return False
    if isinstance(node, tuple):
        return any(_aggregates(table, each) for each in node)
    if not isinstance(node, syntax.Expression) or not is_dataclass(node):
        return False
    if isinstance(node, syntax.Call):
        known = getattr(node, "function", None) or table.t_env.session.manager.function(node.name)
        if isinstance(known or aggregate_functions().get(node.name[-1].upper()), AggregateFunction):
            return True
    return any(_aggregates(table, getattr(node, each.name)) for each in fields(node))


def filtered(table: Table, predicate: Any) -> Relation:
    """Return the relation of `where`."""
    columns = columns_of(table)
    translation = Translation(columns, tables=table.t_env)
    condition = translation.one(given_node(predicate, "where"))
    return analysed(table, [(name, syntax.Identifier((name,))) for name in columns], where=condition)


def ordered(table: Table, fields: Sequence[Any]) -> Relation:
    """Return the relation of `order_by`."""
    columns = columns_of(table)
    translation = Translation(columns, tables=table.t_env)
    keys = []
    for given in fields:
        node = given_node(given, "order_by")
        value, descending = (node.value, node.descending) if isinstance(node, nodes.Ordered) else (node, False)
        keys += [syntax.OrderItem(each, descending) for each in translation.all((value,))]
    listed = tuple(queries.SelectItem(syntax.Identifier((name,)), name) for name in columns)
    query = queries.Select(listed, InlineRelation(table.relation))
    return table.t_env.session.analyse(queries.Ordered(query, tuple(keys)))


def aliased(table: Table, fields: Sequence[Any]) -> Relation:
    """Return the relation of `alias`."""
    names = []
    for given in fields:
        name = given if isinstance(given, str) else name_of(given_node(given, "alias"))
        if name is None:
            raise invalid("alias takes names of columns")
        names += [each.strip() for each in name.split(",")]
    columns = columns_of(table)
    if len(names) > len(columns):
        raise invalid(f"alias has {len(names)} names, but the table has {len(columns)} columns")
    unique([*names, *columns[len(names) :]])
    return renamed(table.relation, [*names, *columns[len(names) :]])


def with_renamed(table: Table, fields: Sequence[Any]) -> Relation:
    """Return the relation of `rename_columns`."""
    columns = columns_of(table)
    names = list(columns)
    for given in fields:
        node = given_node(given, "rename_columns")
        if not isinstance(node, nodes.Named) or not isinstance(node.value, syntax.Identifier):
            raise invalid("rename_columns takes columns with names, as in col('a').alias('b')")
        old = node.value.names[-1]
        if old not in columns:
            raise unknown("column", old, columns, -1)
        names[columns.index(old)] = str(name_of(node))
    unique(names)
    return renamed(table.relation, names)


def with_added(table: Table, fields: Sequence[Any], replacing: bool) -> Relation:
    """Return the relation of `add_columns` or `add_or_replace_columns`."""
    columns = columns_of(table)
    found: list[Item] = [(name, syntax.Identifier((name,))) for name in columns]
    for name, value in items(table, fields, Translation(columns, tables=table.t_env), "add_columns"):
        if replacing and name in columns:
            found[columns.index(name)] = (name, value)
        else:
            found.append((name, value))
    return analysed(table, named(found, "_c"))


def without(table: Table, fields: Sequence[Any]) -> Relation:
    """Return the relation of `drop_columns`."""
    columns = columns_of(table)
    choice = nodes.ColumnChoice(tuple(given_node(each, "drop_columns") for each in fields), excluded=True)
    left = chosen(choice, columns) or []
    if not left:
        raise invalid("drop_columns must leave at least one column")
    return analysed(table, [(name, syntax.Identifier((name,))) for name in left])


# -- joins ------------------------------------------------------------------------------------------------------------


def joined(left: Table, right: Table, kind: str, predicate: Any) -> Relation:
    """Return the relation of a join of two tables, whose columns have different names."""
    if not hasattr(right, "relation"):
        raise TypeMismatchError("A join takes a table", seen=right)
    if right.t_env is not left.t_env:
        raise InvalidProgramError("Only tables from the same TableEnvironment can be joined.")
    names = columns_of(left) + columns_of(right)
    _no_common_names(columns_of(left), columns_of(right))
    condition = _condition(left, names, predicate)
    if condition is None:
        kind = "CROSS" if kind == "INNER" else kind
        condition = None if kind == "CROSS" else syntax.Literal("BOOLEAN", True)
    join = queries.Join(InlineRelation(left.relation), InlineRelation(right.relation), kind, condition=condition)
    return analysed(left, [(name, syntax.Identifier((name,))) for name in names], source=join)


def joined_lateral(left: Table, call: Any, kind: str, predicate: Any) -> Relation:
    """Return the relation of a join of a table with the rows that a function returns for each of its rows."""
    translation = Translation(columns_of(left), tables=left.t_env)
    node = given_node(call, "join_lateral")
    aliases = node.names if isinstance(node, nodes.Named) else ()
    function = translation.one(node)
    if not isinstance(function, syntax.Call):
        raise invalid("join_lateral takes a call of a table function, as in split(col('text')).alias('word')")
    right: queries.Relation = queries.TableFunction(function, lateral=True)
    if aliases:
        right = queries.Aliased(right, "$lateral", aliases)
    cross = queries.Join(InlineRelation(left.relation), right, "LEFT", condition=syntax.Literal("BOOLEAN", True))
    star = queries.SelectItem(syntax.Star())
    whole = left.t_env.session.analyse(queries.Select((star,), cross)).row_type.field_names()
    width = len(columns_of(left))
    added = list(aliases) or whole[width:]
    _no_common_names(columns_of(left), added)
    condition = _condition(left, columns_of(left) + added, predicate) or syntax.Literal("BOOLEAN", True)
    join = replace(cross, kind=kind, condition=condition)
    return left.t_env.session.analyse(queries.Select((star,), join))


def _no_common_names(left: Sequence[str], right: Sequence[str]) -> None:
    common = [name for name in left if name in right]
    if common:
        raise invalid(
            f"Joined tables must have different names of columns, but both have: {', '.join(common)}",
            remedy="rename columns of one table with alias() or rename_columns()",
        )


def _condition(table: Table, names: Sequence[str], predicate: Any) -> syntax.Expression | None:
    if predicate is None:
        return None
    return Translation(names, tables=table.t_env).one(given_node(predicate, "join"))
