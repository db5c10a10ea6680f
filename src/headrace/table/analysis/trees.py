"""All expressions of a relation and of the relations that it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from headrace.table.plan.relations import Relation
from headrace.table.plan.rex import OuterRef, Rex, Subquery, rewrite, walk


def expressions(relation: Relation) -> Iterator[Rex]:
    """Iterate over the expressions of a tree of relations."""
    for each in fields(relation):
        yield from _inside(getattr(relation, each.name))


def _inside(value: Any) -> Iterator[Rex]:
    if isinstance(value, Rex):
        yield value
    elif isinstance(value, Relation):
        yield from expressions(value)
    elif isinstance(value, tuple):
        for each in value:
            if isinstance(each, (Rex, Relation, tuple)):
                yield from _inside(each)


def with_expressions(relation: Relation, change: Callable[[Rex], Rex]) -> Relation:
    """Return the tree with every expression changed."""

    def changed(value: Any) -> Any:
        if isinstance(value, Rex):
            return change(value)
        if isinstance(value, Relation):
            return with_expressions(value, change)
        if isinstance(value, tuple):
            return tuple(changed(each) if isinstance(each, (Rex, Relation, tuple)) else each for each in value)
        return value

    new = {each.name: changed(getattr(relation, each.name)) for each in fields(relation) if each.name not in _PLAIN}
    return replace(relation, **new)


_PLAIN = frozenset(("row_type", "table", "name", "rows", "hints", "pattern", "window", "windows", "calls", "function"))


def outer_refs(rex: Rex) -> Iterator[OuterRef]:
    """Iterate over the columns of enclosing queries that an expression reads."""
    for each in walk(rex):
        if isinstance(each, OuterRef):
            yield each
        elif isinstance(each, Subquery):
            for inner in expressions(each.relation):
                for ref in outer_refs(inner):
                    if ref.depth > 1:
                        yield replace(ref, depth=ref.depth - 1)


def is_correlated(relation: Relation, depth: int = 1) -> bool:
    """Return whether a relation reads columns of the query that is `depth` levels up, or of one further up."""
    return any(ref.depth >= depth for each in expressions(relation) for ref in outer_refs(each))


def reads_outer(rex: Rex) -> bool:
    """Return whether an expression reads columns of the next enclosing query."""
    return any(ref.depth == 1 for ref in outer_refs(rex))


def with_outer(rex: Rex, change: Callable[[OuterRef], Rex]) -> Rex:
    """Return the expression with its references to enclosing queries replaced."""
    return rewrite(rex, lambda each: change(each) if isinstance(each, OuterRef) else None)


def one_level_up(relation: Relation) -> Relation:
    """Return a relation that moves into the enclosing query: its references to queries further up are one level less deep."""
    if not is_correlated(relation, 2):
        return relation

    def change(ref: OuterRef) -> Rex:
        return replace(ref, depth=ref.depth - 1)

    return with_expressions(relation, lambda rex: with_outer(rex, change))
