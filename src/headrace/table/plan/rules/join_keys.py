"""Equalities of expressions in join conditions become equalities of columns, which the inputs compute: join keys."""

from __future__ import annotations

from dataclasses import replace

from headrace.table.plan.relations import Join, Project, Relation, TemporalJoin
from headrace.table.plan.rex import InputRef, Rex, input_columns, shifted
from headrace.table.plan.rules.conditions import call, comparison, conjunction, conjuncts, movable
from headrace.table.plan.rules.rewriting import project, references, row_of


def compute_join_keys(relation: Relation) -> Relation | None:
    """Move the operands of `f(left) = g(right)` into projections of the sides; of a temporal join, of the left side only.

    Versions and rows of external systems are found by columns of the table itself.
    """
    if not isinstance(relation, (Join, TemporalJoin)):
        return None
    width = len(relation.left.row_type)
    added: tuple[list[Rex], list[Rex]] = ([], [])
    changed: list[tuple[str, Rex, int | Rex, int | Rex]] = []
    rest: list[Rex] = []
    for part in conjuncts(relation.condition):
        sides = _sides(part, relation, width)
        if sides is None:
            rest.append(part)
            continue
        name, *operands = sides
        one, other = (_place(operand, added[side], -width * side) for side, operand in enumerate(operands))
        changed.append((name, part, one, other))
    if not added[0] and not added[1]:
        return None
    return _rebuilt(relation, added, changed, rest)


def _place(operand: Rex, added: list[Rex], moved: int) -> int | Rex:
    """Return an operand that is a column, or its place among the columns that its side computes in addition."""
    if isinstance(operand, InputRef):
        return operand
    own = shifted(operand, moved)
    if own not in added:
        added.append(own)
    return added.index(own)


def _sides(part: Rex, join: Join | TemporalJoin, width: int) -> tuple[str, Rex, Rex] | None:
    """Return the operands of an equality, the left side's first, if at least one of them must be computed."""
    found = comparison(part)
    if found is None or found[0] not in ("=", "IS NOT DISTINCT FROM") or not movable(part):
        return None
    name, one, other = found
    used_one, used_other = input_columns(one), input_columns(other)
    if not used_one or not used_other:
        return None
    if min(used_one) >= width:
        one, other, used_one, used_other = other, one, used_other, used_one
    if max(used_one) >= width or min(used_other) < width:
        return None
    if isinstance(other, InputRef) and isinstance(one, InputRef):
        return None
    if isinstance(join, TemporalJoin) and not isinstance(other, InputRef):
        return None
    kinds = [*join.left.row_type.field_types(), *join.right.row_type.field_types()]
    timed = [any(getattr(kinds[column], "time_attribute", None) for column in used) for used in (used_one, used_other)]
    return None if all(timed) else (name, one, other)  # bounds between times are for interval joins


def _rebuilt(
    relation: Join | TemporalJoin,
    added: tuple[list[Rex], list[Rex]],
    changed: list[tuple[str, Rex, int | Rex, int | Rex]],
    rest: list[Rex],
) -> Relation:
    width, right_width = len(relation.left.row_type), len(relation.right.row_type)
    left, right = (_with_columns(each, new) for each, new in zip((relation.left, relation.right), added))
    moved = len(added[0])
    places = {column: column if column < width else column + moved for column in range(width + right_width)}

    def operand(side: int, place: int | Rex) -> Rex:
        if isinstance(place, int):
            start = width if side == 0 else width + moved + right_width
            return InputRef(added[side][place].type, start + place)
        return shifted(place, places)

    keys = [call(name, part.type, operand(0, one), operand(1, other)) for name, part, one, other in changed]
    condition = conjunction([*keys, *(shifted(part, places) for part in rest)])
    assert condition is not None
    if relation.kind in ("SEMI", "ANTI"):
        semi = replace(relation, row_type=left.row_type, left=left, right=right, condition=condition)
        return project(semi, range(width), relation.row_type.field_names())
    fields = list(relation.row_type.fields)
    kind = row_of(
        [(f.name, f.data_type) for f in fields[:width]]
        + [(f.name, f.data_type) for f in left.row_type.fields[width:]]
        + [(f.name, f.data_type) for f in fields[width:]]
        + [(f.name, f.data_type) for f in right.row_type.fields[right_width:]]
    )
    joined = replace(relation, row_type=kind, left=left, right=right, condition=condition)
    return project(joined, [places[column] for column in range(len(fields))], relation.row_type.field_names())


def _with_columns(relation: Relation, expressions: list[Rex]) -> Relation:
    if not expressions:
        return relation
    fields = [(field.name, field.data_type) for field in relation.row_type.fields]
    kind = row_of(fields + [(f"$f{len(fields) + number}", rex.type) for number, rex in enumerate(expressions)])
    return Project(kind, relation, (*references(relation.row_type), *expressions))
