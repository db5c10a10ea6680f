"""Logical relations as a tree of lines, with columns as $0, $1 and so on: the first part of EXPLAIN."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from headrace.table.plan import logical, relations
from headrace.table.plan.describe import Text
from headrace.table.plan.rex import AggregateCall, SortKey

_TEXT = Text(infix=False)


def logical_tree(relation: relations.Relation) -> str:
    """Return the lines of a relation and its inputs."""
    lines: list[str] = []
    _add(relation, "", "", lines)
    return "\n".join(lines) + "\n"


def _add(relation: relations.Relation, first: str, rest: str, lines: list[str]) -> None:
    lines.append(first + logical_line(relation))
    for number, each in enumerate(relation.inputs):
        last = number == len(relation.inputs) - 1
        _add(each, rest + ("+- " if last else ":- "), rest + ("   " if last else ":  "), lines)


def logical_line(relation: relations.Relation) -> str:
    """Return the line of one relation."""
    handler = _LINES.get(type(relation))
    return f"Logical{type(relation).__name__}()" if handler is None else handler(relation)


def _columns(count: int) -> list[str]:
    return [f"${number}" for number in range(count)]


def _width(*inputs: relations.Relation) -> list[str]:
    return _columns(sum(len(each.row_type) for each in inputs))


def _scan(relation: relations.Scan) -> str:
    hints = ", ".join(f"{key}={value}" for key, value in relation.options)
    extra = f", hints=[[[OPTIONS options:{{{hints}}}]]]" if hints else ""
    return f"LogicalTableScan(table=[[{', '.join(relation.name)}]]{extra})"


def _values(relation: relations.Values) -> str:
    types = relation.row_type.field_types()
    rows = [f"{{ {', '.join(_TEXT.literal(v, t) for v, t in zip(row, types))} }}" for row in relation.rows]
    return f"LogicalValues(tuples=[[{', '.join(rows)}]])"


def _project(relation: relations.Project) -> str:
    names = _width(relation.input)
    parts = [f"{n}=[{_TEXT.rex(rex, names)}]" for n, rex in zip(relation.row_type.field_names(), relation.expressions)]
    return f"LogicalProject({', '.join(parts)})"


def _filter(relation: relations.Filter) -> str:
    return f"LogicalFilter(condition=[{_TEXT.rex(relation.condition, _width(relation.input))}])"


def _watermark(relation: relations.WatermarkAssigner) -> str:
    name = relation.row_type.field_names()[relation.time]
    watermark = _TEXT.rex(relation.watermark, _width(relation.input))
    return f"LogicalWatermarkAssigner(rowtime=[{name}], watermark=[{watermark}])"


def _window_table(relation: relations.WindowTable) -> str:
    return f"LogicalTableFunctionScan(invocation=[{_TEXT.window(relation.window, relation.input.row_type)}])"


def _calls(calls: Sequence[AggregateCall], names: Sequence[str], given: Sequence[str]) -> list[str]:
    return [f"{name}=[{_TEXT.aggregate(call, names, named=False)}]" for call, name in zip(calls, given)]


def _aggregate(relation: relations.Aggregate) -> str:
    groups = ", ".join(str(group) for group in relation.groups)
    parts = [f"group=[{{{groups}}}]"]
    if relation.grouping_sets:
        sets = ", ".join(f"{{{', '.join(map(str, each))}}}" for each in relation.grouping_sets)
        parts.append(f"groups=[[{sets}]]")
    given = relation.row_type.field_names()[len(relation.row_type) - len(relation.calls) :]
    return f"LogicalAggregate({', '.join(parts + _calls(relation.calls, _width(relation.input), given))})"


def _group_window(relation: relations.GroupWindowAggregate) -> str:
    groups = ", ".join(str(group) for group in relation.groups)
    window = _TEXT.window(relation.window, relation.input.row_type, legacy=True)
    given = relation.row_type.field_names()[len(relation.groups) :]
    calls = _calls(relation.calls, _width(relation.input), given)
    properties = f"properties=[{', '.join(relation.properties)}]"
    return f"LogicalWindowAggregate({', '.join([f'group=[{{{groups}}}]', *calls, f'window=[{window}]', properties])})"


def _over(relation: relations.Over) -> str:
    names = _width(relation.input)
    parts = []
    for number, window in enumerate(relation.windows):
        partition = f"partition {{{', '.join(str(column) for column in window.partition_by)}}}"
        calls = ", ".join(_TEXT.aggregate(call, names, named=False) for call in window.calls)
        order = f"order by [{_TEXT.order(window.order_by, names)}]"
        parts.append(f"window#{number}=[{partition} {order} {_TEXT.frame(window.frame)} aggs [{calls}]]")
    return f"LogicalWindow({', '.join(parts)})"


def _join(relation: relations.Join) -> str:
    condition = _TEXT.rex(relation.condition, _width(relation.left, relation.right))
    return f"LogicalJoin(condition=[{condition}], joinType=[{relation.kind.lower()}])"


def _temporal(relation: relations.TemporalJoin) -> str:
    condition = _TEXT.rex(relation.condition, _width(relation.left, relation.right))
    time = _TEXT.rex(relation.time, _width(relation.left))
    return f"LogicalTemporalJoin(condition=[{condition}], joinType=[{relation.kind.lower()}], period=[{time}])"


def _correlate(relation: relations.Correlate) -> str:
    return f"LogicalCorrelate(joinType=[{relation.kind.lower()}])"


def _function(relation: relations.TableFunctionCall) -> str:
    arguments = ", ".join(_TEXT.rex(rex, _columns(1000)) for rex in relation.arguments)
    return f"LogicalTableFunctionScan(invocation=[{relation.function.name}({arguments})])"


def _set_operation(relation: relations.SetOperation) -> str:
    name = {"UNION": "Union", "INTERSECT": "Intersect", "EXCEPT": "Minus"}[relation.kind]
    return f"Logical{name}(all=[{str(relation.all).lower()}])"


def _sort(relation: relations.Sort) -> str:
    parts = [f"sort{number}=[${key.index}]" for number, key in enumerate(relation.keys)]
    parts += [f"dir{number}=[{_direction(key)}]" for number, key in enumerate(relation.keys)]
    parts += [f"offset=[{relation.offset}]"] if relation.offset else []
    parts += [f"fetch=[{relation.limit}]"] if relation.limit is not None else []
    return f"LogicalSort({', '.join(parts)})"


def _direction(key: SortKey) -> str:
    side = "first" if key.nulls_first else "last"
    return f"{'DESC' if key.descending else 'ASC'}-nulls-{side}"


def _sink(relation: relations.Sink) -> str:
    fields = ", ".join(relation.input.row_type.field_names())
    return f"LogicalSink(table=[{'.'.join(relation.name)}], fields=[{fields}])"


def _match(relation: relations.Match) -> str:
    partition = ", ".join(str(column) for column in relation.partition_by)
    order = ", ".join(str(key.index) for key in relation.order_by)
    measures = ", ".join(name for name, _ in relation.measures)
    return f"LogicalMatch(partition=[[{partition}]], order=[[{order}]], outputFields=[[{measures}]])"


_LINES: dict[type[relations.Relation], Callable[[Any], str]] = {
    relations.Scan: _scan,
    relations.Values: _values,
    relations.Project: _project,
    relations.Filter: _filter,
    relations.WatermarkAssigner: _watermark,
    relations.WindowTable: _window_table,
    relations.Aggregate: _aggregate,
    relations.GroupWindowAggregate: _group_window,
    relations.Over: _over,
    relations.Join: _join,
    relations.TemporalJoin: _temporal,
    relations.Correlate: _correlate,
    relations.TableFunctionCall: _function,
    relations.SetOperation: _set_operation,
    relations.Sort: _sort,
    relations.Sink: _sink,
    relations.Match: _match,
    logical.Empty: lambda relation: "LogicalValues(tuples=[[]])",
}
