"""GROUP BY: keys, grouping sets, group windows, and aggregate functions as columns of an aggregate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

from headrace.table.analysis import casts
from headrace.table.analysis.calls import GROUP_WINDOWS
from headrace.table.analysis.decorrelation import projection
from headrace.table.analysis.errors import invalid, unsupported
from headrace.table.analysis.expressions import Expressions
from headrace.table.analysis.hints import ResolvedHint
from headrace.table.analysis.literals import integer
from headrace.table.analysis.scopes import row_of
from headrace.table.analysis.trees import with_expressions, with_outer
from headrace.table.analysis.uses import (
    AggregateUse,
    Columns,
    GroupingUse,
    GroupWindowUse,
    contains,
    transform,
    walk,
)
from headrace.table.functions.definition import NOT_CONSTANT
from headrace.table.plan.relations import Aggregate, GroupWindowAggregate, Relation, Window
from headrace.table.plan.rex import AggregateCall, InputRef, Literal, OuterRef, Rex, SortKey, Subquery
from headrace.table.sql.syntax import expressions as syntax
from headrace.table.sql.syntax.queries import GroupingSet, Select
from headrace.types.logical_types import BigIntType, DataType

Replace = Callable[[Rex], Rex]


@dataclass
class Keys:
    """The contents of a GROUP BY clause: keys, sets of keys by their numbers, and a group window."""

    columns: Columns
    sets: tuple[tuple[int, ...], ...] = ()
    window: GroupWindowUse | None = None


def group_keys(expressions: Expressions, node: Select) -> Keys:
    """Return the keys of a GROUP BY clause."""
    keys = Keys(Columns())
    elements: list[list[tuple[int, ...]]] = []
    simple = True
    for item in node.group_by or ():
        if _is_group_window(expressions, item):
            assert isinstance(item, syntax.Call)
            if keys.window is not None:
                raise invalid("GROUP BY may have only one group window", item.position)
            keys.window = expressions.group_window(item)
            continue
        simple = simple and not isinstance(item, GroupingSet) and not _is_empty(item)
        elements.append(_element(expressions, item, keys.columns))
    if not simple:
        if keys.window is not None:
            raise invalid("GROUPING SETS, CUBE and ROLLUP cannot be combined with a group window", node.position)
        crossed = (tuple(dict.fromkeys(key for part in parts for key in part)) for parts in product(*elements))
        sets = tuple(tuple(sorted(each)) for each in crossed)
        keys.sets = tuple(dict.fromkeys(sets)) if node.group_distinct else sets
        if keys.sets == (tuple(range(len(keys.columns.expressions))),):
            keys.sets = ()
    return keys


def _is_empty(item: syntax.Expression) -> bool:
    return isinstance(item, syntax.Row) and not item.items


def _is_group_window(expressions: Expressions, item: syntax.Expression) -> bool:
    return (
        isinstance(item, syntax.Call)
        and len(item.name) == 1
        and item.name[0].upper() in GROUP_WINDOWS
        and expressions.context.catalog.function(item.name) is None
    )


def _element(expressions: Expressions, item: syntax.Expression, columns: Columns) -> list[tuple[int, ...]]:
    """Return the sets of keys that an element of GROUP BY stands for."""
    if not isinstance(item, GroupingSet):
        return [_composite(expressions, item, columns)]
    if item.kind == "GROUPING SETS":
        return [found for each in item.items for found in _element(expressions, each, columns)]
    parts = [_composite(expressions, each, columns) for each in item.items]
    if item.kind == "ROLLUP":
        chosen: list[tuple[tuple[int, ...], ...]] = [tuple(parts[:count]) for count in range(len(parts), -1, -1)]
    else:
        chosen = [each for count in range(len(parts), -1, -1) for each in combinations(parts, count)]
    return [tuple(key for part in each for key in part) for each in chosen]


def _composite(expressions: Expressions, item: syntax.Expression, columns: Columns) -> tuple[int, ...]:
    items = item.items if isinstance(item, syntax.Row) else (item,)
    return tuple(columns.place(expressions.rex(each)) for each in items)


# -- the aggregate ----------------------------------------------------------------------------------------------------


def grouped(
    relation: Relation,
    keys: Keys,
    values: Sequence[Rex],
    expressions: Expressions,
    hints: tuple[ResolvedHint, ...] = (),
) -> tuple[Relation, Replace]:
    """Return the aggregate that `values` need, and what makes expressions over it of expressions over its input."""
    uses = list(dict.fromkeys(each for value in values for each in walk(value) if isinstance(each, AggregateUse)))
    if any(contains(each, Subquery) for each in (*uses, *keys.columns.expressions)):
        raise unsupported("Subqueries are not supported in GROUP BY and in aggregate functions")
    columns = Columns(tuple(keys.columns.expressions))
    count = len(keys.columns.expressions)
    groups = tuple(range(count))
    always_rows = bool(keys.window) or (count > 0 and all(keys.sets or ((0,),)))
    calls = tuple(aggregate_call(use, columns, f"EXPR${i}", always_rows) for i, use in enumerate(uses))
    time = columns.place(keys.window.time) if keys.window is not None else -1
    source, places = _source(relation, columns)
    groups, calls = tuple(places[i] for i in groups), tuple(_moved(call, places) for call in calls)
    kinds = _key_types(keys)
    names = [_key_name(source, place, index) for index, place in enumerate(groups)]
    if keys.window is not None:
        return _window_aggregate(source, keys, places[time], groups, calls, names, kinds, values, uses, expressions)
    marker = bool(keys.sets)
    sets = tuple(tuple(groups[i] for i in each) for each in keys.sets)
    middle: list[DataType] = [BigIntType(is_nullable=False)] if marker else []
    row = row_of(
        names + (["$e"] if marker else []) + [call.name for call in calls],
        kinds + middle + [call.type for call in calls],
    )
    result = Aggregate(row, source, groups, calls, sets, hints)
    return result, _Rewriter(keys, uses, row.field_types(), count + marker, {}, expressions).replaced


def _source(relation: Relation, columns: Columns) -> tuple[Relation, list[int]]:
    """Return the projection with the columns, or the relation itself if all of them are columns of it."""
    if all(isinstance(each, InputRef) for each in columns.expressions):
        return relation, [each.index for each in columns.expressions if isinstance(each, InputRef)]
    return projection(relation, columns.expressions), list(range(len(columns.expressions)))


def _key_types(keys: Keys) -> list[DataType]:
    kinds = [each.type for each in keys.columns.expressions]
    if not keys.sets:
        return kinds
    return [kind if all(i in each for each in keys.sets) else kind.nullable() for i, kind in enumerate(kinds)]


def _key_name(source: Relation, place: int, index: int) -> str:
    name = source.row_type.fields[place].name
    return f"$f{index}" if name.startswith("EXPR$") else name


def aggregate_call(use: AggregateUse, columns: Columns, name: str, always_rows: bool = True) -> AggregateCall:
    """Return a use as a call over columns, which are added to `columns`."""
    kind = use.type
    if (not always_rows or use.filter is not None) and not use.function.name.startswith("COUNT"):
        kind = kind.nullable()
    constants = tuple(each.value if isinstance(each, Literal) else NOT_CONSTANT for each in use.arguments)
    return AggregateCall(
        use.function,
        tuple(columns.place(each) for each in use.arguments),
        kind,
        name,
        use.distinct,
        None if use.filter is None else columns.place(use.filter),
        tuple(SortKey(columns.place(each.value), each.descending, each.nulls_first) for each in use.order_by),
        use.ignore_nulls,
        constants if any(each is not NOT_CONSTANT for each in constants) else (),
    )


def _moved(call: AggregateCall, places: list[int]) -> AggregateCall:
    return replace(
        call,
        arguments=tuple(places[i] for i in call.arguments),
        filter=None if call.filter is None else places[call.filter],
        order_by=tuple(replace(each, index=places[each.index]) for each in call.order_by),
    )


def _window_aggregate(
    source: Relation,
    keys: Keys,
    time: int,
    groups: tuple[int, ...],
    calls: tuple[AggregateCall, ...],
    names: list[str],
    kinds: list[DataType],
    values: Sequence[Rex],
    uses: list[AggregateUse],
    expressions: Expressions,
) -> tuple[Relation, Replace]:
    used = keys.window
    assert used is not None
    slide, size = used.sizes if used.kind == "HOP" else (0, used.sizes[0])
    window = Window(used.kind, time, size, slide, by_rows=used.by_rows)
    found = dict.fromkeys(each for value in values for each in walk(value) if isinstance(each, GroupWindowUse))
    parts = {each.part: each.type for each in found if each.part}
    properties = tuple(part for part in ("start", "end", "rowtime", "proctime") if part in parts)
    row = row_of(
        names + [call.name for call in calls] + [f"w$_{part}" for part in properties],
        kinds + [call.type for call in calls] + [parts[part] for part in properties],
    )
    result = GroupWindowAggregate(row, source, window, groups, calls, properties)
    first = len(groups) + len(calls)
    places: dict[str, int] = {part: first + index for index, part in enumerate(properties)}
    return result, _Rewriter(keys, uses, row.field_types(), len(groups), places, expressions).replaced


@dataclass
class _Rewriter:
    """Replaces keys, aggregates and window properties by columns of the aggregate."""

    keys: Keys
    uses: list[AggregateUse]
    types: list[DataType]
    first_call: int
    properties: dict[str, int]
    expressions: Expressions

    def __post_init__(self) -> None:
        found = enumerate(self.keys.columns.expressions)
        self._keys: dict[Rex, Rex] = {each: InputRef(self.types[index], index) for index, each in found}
        calls = enumerate(self.uses, self.first_call)
        self._keys |= {use: InputRef(self.types[index], index) for index, use in calls}

    def replaced(self, rex: Rex) -> Rex:
        """Return an expression over the columns of the aggregate."""
        return transform(rex, self._change)

    def _change(self, rex: Rex) -> Rex | None:
        found = self._keys.get(rex)
        if found is not None:
            return found
        match rex:
            case InputRef():
                raise self._not_grouped(rex)
            case GroupWindowUse():
                return self._property(rex)
            case GroupingUse():
                return self._grouping(rex)
            case Subquery():
                return self._subquery(rex)
        return None

    def _not_grouped(self, rex: InputRef) -> Exception:
        for used, node in reversed(self.expressions.columns_used):
            if used is rex:
                name = ".".join(node.names)
                remedy = f"add '{name}' to GROUP BY, or use an aggregate function such as MAX({name})"
                return invalid(f"Expression '{name}' is not being grouped", node.position, remedy)
        name = self.expressions.scope.row_type.fields[rex.index].name
        return invalid(f"Expression '{name}' is not being grouped")

    def _property(self, rex: GroupWindowUse) -> Rex:
        window = self.keys.window
        if window is None or (window.kind, window.time, window.sizes) != (rex.kind, rex.time, rex.sizes):
            name = f"{rex.kind}_{rex.part.upper()}"
            raise invalid(f"{name} has no group window with the same arguments in GROUP BY", -1)
        return InputRef(rex.type, self.properties[rex.part])

    def _grouping(self, rex: GroupingUse) -> Rex:
        places = []
        for each in rex.arguments:
            if each not in self._keys:
                raise invalid(f"The arguments of {rex.kind} must be expressions of GROUP BY")
            found = self._keys[each]
            assert isinstance(found, InputRef)
            places.append(found.index)
        count = len(self.keys.columns.expressions)
        if not self.keys.sets or not places:
            return casts.cast(integer(0), rex.type)
        marker = InputRef(BigIntType(is_nullable=False), count)
        by_value: dict[int, int] = {}
        for keys in self.keys.sets:
            number = sum(1 << (count - 1 - i) for i in range(count) if i not in keys)
            by_value[number] = sum(1 << (len(places) - 1 - place) for place, i in enumerate(places) if i not in keys)
        *others, (_, last) = by_value.items()
        arguments: list[Rex] = []
        for number, value in others:
            test = casts.operator("=", marker, casts.cast(integer(number), marker.type))
            arguments += [test, casts.cast(integer(value), rex.type)]
        otherwise = casts.cast(integer(last), rex.type)
        return casts.operator("CASE", *arguments, otherwise) if arguments else otherwise

    def _subquery(self, rex: Subquery) -> Rex:
        """A subquery sees the columns of the aggregate instead of those of its input."""

        def change(ref: OuterRef) -> Rex:
            if ref.depth != 1:
                return ref
            found = self._keys.get(InputRef(ref.type, ref.index))
            if not isinstance(found, InputRef):
                name = self.expressions.scope.row_type.fields[ref.index].name
                raise invalid(f"Expression '{name}' is not being grouped")
            return OuterRef(found.type, 1, found.index)

        relation = with_expressions(rex.relation, lambda each: with_outer(each, change))
        return replace(rex, relation=relation, arguments=tuple(map(self.replaced, rex.arguments)))
