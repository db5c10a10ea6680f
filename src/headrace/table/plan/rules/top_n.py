"""Top N: a condition on ROW_NUMBER, RANK or DENSE_RANK above an OVER becomes a `Rank`."""

from __future__ import annotations

from headrace.table.errors import SqlNotSupportedError
from headrace.table.plan.logical import Rank
from headrace.table.plan.relations import Filter, Over, Project, Relation
from headrace.table.plan.rex import Call, InputRef, Literal, Rex
from headrace.table.plan.rules.conditions import MIRRORED, comparison, conjuncts
from headrace.table.plan.rules.pushdown import filtered
from headrace.table.plan.rules.rewriting import references
from headrace.types.logical_types import BigIntType, DecimalType, IntType, RowType, SmallIntType, TinyIntType

RANKS = ("ROW_NUMBER", "RANK", "DENSE_RANK")
_INTEGERS = (TinyIntType, SmallIntType, IntType, BigIntType, DecimalType)


def detect_top_n(relation: Relation) -> Relation | None:
    """Turn a filter on the rank of an OVER into a `Rank`."""
    if not (isinstance(relation, Filter) and isinstance(relation.input, Over)):
        return None
    over = relation.input
    if len(over.windows) != 1 or len(over.windows[0].calls) != 1:
        return None
    window = over.windows[0]
    name = window.calls[0].function.name
    column = len(over.row_type) - 1
    if name not in RANKS or not window.order_by:
        return None
    start, end, end_column, rest = 1, None, None, []
    for part in conjuncts(relation.condition):
        bound = _bound(part, column)
        match bound:
            case ("=", int(value)):
                start, end = max(start, value), value if end is None else min(end, value)
            case ("<" | "<=", int(value)):
                last = value - (bound[0] == "<")
                end = last if end is None else min(end, last)
            case (">" | ">=", int(value)):
                start = max(start, value + (bound[0] == ">"))
            case ("=" | "<=", InputRef(index=index)) if end_column is None and name == "ROW_NUMBER":
                end_column = index
                if bound[0] == "=":
                    rest.append(part)
            case _:
                rest.append(part)
    if end is None and end_column is None:
        if start > 1:
            raise SqlNotSupportedError(
                "Rank end is not specified. Currently rank only support TopN, which means the rank end must be specified.",
                remedy=f"add an upper bound for {name}()",
            )
        return None
    if end is not None:
        end_column = None
    constant = name == "ROW_NUMBER" and start == end
    kept = over.row_type if not constant else RowType(over.row_type.fields[:-1], is_nullable=False)
    rank: Relation = Rank(
        kept, over.input, name, window.partition_by, window.order_by, start, end, end_column, not constant
    )
    if constant:
        number = Literal(over.row_type.fields[-1].data_type, start)
        rank = Project(over.row_type, rank, (*references(kept), number))
    return filtered(rank, rest)


def _bound(part: Rex, column: int) -> tuple[str, int | InputRef] | None:
    """Return how a conjunct limits the rank: the comparison with the rank on its left, and the other operand."""
    found = comparison(part)
    if found is None:
        return None
    name, left, right = found
    if isinstance(right, InputRef) and right.index == column:
        name, left, right = MIRRORED[name], right, left
    if not (isinstance(left, InputRef) and left.index == column):
        return None
    if isinstance(right, Literal) and isinstance(right.type, _INTEGERS) and right.value is not None:
        return name, int(right.value)
    if isinstance(right, Call) and right.function.name == "CAST" and isinstance(right.type, _INTEGERS):
        right = right.arguments[0]
    if isinstance(right, InputRef) and right.index != column and isinstance(right.type, _INTEGERS):
        return name, right
    return None
