"""Which columns a name may mean: those of the relations of a FROM clause, then those of enclosing queries.

Names of columns are case-sensitive. A name with qualifiers means a column of the relation that the longest possible
prefix names; what follows the column are fields of its ROW value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from headrace.table.analysis.errors import invalid, unknown
from headrace.table.plan.relations import Relation
from headrace.table.plan.rex import FieldAccess, InputRef, OuterRef, Rex, rewrite
from headrace.types.logical_types import DataType, RowField, RowType

Name = tuple[str, ...]


@dataclass(frozen=True)
class Namespace:
    """A relation of a FROM clause: its alias or its path, and where its columns start."""

    path: Name
    start: int
    names: tuple[str, ...]

    def matches(self, prefix: Name) -> bool:
        """Return whether a qualifier means this relation."""
        return self.path[-len(prefix) :] == prefix

    def indexes(self, name: str) -> list[int]:
        """Return the columns with a name."""
        return [self.start + i for i, each in enumerate(self.names) if each == name]


@dataclass(frozen=True)
class Scope:
    """The columns that expressions of a query may use.

    `merged` has the columns that USING or NATURAL made one of two; these are `hidden` where no qualifier is given.
    """

    row_type: RowType
    namespaces: tuple[Namespace, ...]
    parent: Scope | None = None
    merged: tuple[tuple[str, Rex], ...] = ()
    hidden: frozenset[int] = frozenset()
    _cache: dict[Name, Rex] = field(default_factory=dict, compare=False, repr=False)

    # -- lookup -------------------------------------------------------------------------------------------------------

    def column(self, names: Name, position: int = -1) -> Rex:
        """Return the column or field that a name means."""
        found = self._cache.get(names)
        if found is None:
            found = self._cache[names] = self._resolved(names, position)
        return found

    def _resolved(self, names: Name, position: int) -> Rex:
        scope: Scope | None = self
        depth = 0
        while scope is not None:
            found = scope.find(names, position)
            if found is not None:
                return found if depth == 0 else _outer(found, depth)
            scope, depth = scope.parent, depth + 1
        raise self._unknown(names, position)

    def find(self, names: Name, position: int = -1) -> Rex | None:
        """Return what a name means in this scope, without the enclosing ones; None if nothing."""
        for length in range(len(names) - 1, 0, -1):
            matching = [each for each in self.namespaces if each.matches(names[:length])]
            if not matching:
                continue
            indexes = [index for each in matching for index in each.indexes(names[length])]
            if indexes:
                return self._fields(self._only(indexes, ".".join(names), position), names[length + 1 :], position)
        name = names[0]
        for merged, rex in self.merged:
            if merged == name:
                return self._fields(rex, names[1:], position)
        indexes = [i for each in self.namespaces for i in each.indexes(name) if i not in self.hidden]
        if not indexes:
            return None
        return self._fields(self._only(indexes, name, position), names[1:], position)

    def _only(self, indexes: list[int], name: str, position: int) -> Rex:
        if len(indexes) > 1:
            remedy = "add the name of its table, as in t.column, or give the columns different names"
            raise invalid(f"Column '{name}' is ambiguous", position, remedy)
        return InputRef(self.row_type.fields[indexes[0]].data_type, indexes[0])

    def _fields(self, value: Rex, names: Name, position: int) -> Rex:
        for name in names:
            value = field_access(value, name, position)
        return value

    def _unknown(self, names: Name, position: int) -> Exception:
        if len(names) > 1:
            matching = [each for each in self.namespaces if each.matches(names[:-1])]
            if matching:
                known = [name for each in matching for name in each.names]
                return unknown("column", names[-1], known, position)
            aliases = [each.path[-1] for each in self.namespaces if each.path]
            if names[0] not in self.names():
                return unknown("table", ".".join(names[:-1]), aliases, position)
        return unknown("column", ".".join(names), dict.fromkeys(self.names()), position)

    def names(self) -> Iterator[str]:
        """Iterate over the names of all columns, those of enclosing queries last."""
        for each in self.namespaces:
            yield from each.names
        if self.parent is not None:
            yield from self.parent.names()

    # -- star ---------------------------------------------------------------------------------------------------------

    def star(self, qualifier: Name, position: int = -1) -> list[tuple[str, Rex]]:
        """Return the columns of `*` or `t.*`, with their names."""
        if not qualifier:
            shown = [(name, index) for name, index in self._numbered(self.namespaces) if index not in self.hidden]
            return [*self.merged, *((name, self._ref(index)) for name, index in shown)]
        matching = [each for each in self.namespaces if each.matches(qualifier)]
        if matching:
            return [(name, self._ref(index)) for name, index in self._numbered(tuple(matching))]
        row = self.find(qualifier, position)
        if row is not None and isinstance(row.type, RowType):
            return [(each.name, field_access(row, each.name, position)) for each in row.type.fields]
        raise unknown("table", ".".join(qualifier), [each.path[-1] for each in self.namespaces if each.path], position)

    def _ref(self, index: int) -> Rex:
        return InputRef(self.row_type.fields[index].data_type, index)

    @staticmethod
    def _numbered(namespaces: tuple[Namespace, ...]) -> Iterator[tuple[str, int]]:
        for each in namespaces:
            yield from zip(each.names, range(each.start, each.start + len(each.names)), strict=True)


def field_access(value: Rex, name: str, position: int = -1) -> Rex:
    """Return a field of a ROW value."""
    if not isinstance(value.type, RowType):
        raise invalid(f"'{name}' is not a field: the value before the dot is not a ROW", position)
    names = value.type.field_names()
    if name not in names:
        raise unknown("field", name, names, position)
    index = names.index(name)
    kind = value.type.fields[index].data_type
    return FieldAccess(kind.nullable() if value.type.is_nullable else kind, value, index)


def _outer(rex: Rex, depth: int) -> Rex:
    def change(each: Rex) -> Rex | None:
        return OuterRef(each.type, depth, each.index) if isinstance(each, InputRef) else None

    return rewrite(rex, change)


def scope_of(relation: Relation, path: Name, parent: Scope | None = None) -> Scope:
    """Return the scope of a single relation."""
    names = tuple(each.name for each in relation.row_type.fields)
    return Scope(relation.row_type, (Namespace(path, 0, names),), parent)


def side_by_side(left: Scope, right: Scope, row_type: RowType, parent: Scope | None) -> Scope:
    """Return the scope of a join: the columns of both sides."""
    places = len(left.row_type)
    moved = tuple(replace(each, start=each.start + places) for each in right.namespaces)
    hidden = left.hidden | {index + places for index in right.hidden}

    def again(rex: Rex, by: int) -> Rex:
        # Outer joins make columns nullable, so that references get their types from the join.
        def change(each: Rex) -> Rex | None:
            if not isinstance(each, InputRef):
                return None
            return InputRef(row_type.fields[each.index + by].data_type, each.index + by)

        return rewrite(rex, change)

    merged = tuple((name, again(rex, 0)) for name, rex in left.merged)
    merged += tuple((name, again(rex, places)) for name, rex in right.merged)
    return Scope(row_type, left.namespaces + moved, parent, merged, hidden)


def unique_names(names: list[str]) -> list[str]:
    """Return the names with numbers behind those that occur before, as Flink does.

    >>> unique_names(["a", "b", "a", "a", "a0"])
    ['a', 'b', 'a0', 'a1', 'a00']
    """
    seen: set[str] = set()
    found = []
    for name in names:
        candidate, number = name, 0
        while candidate in seen:
            candidate, number = f"{name}{number}", number + 1
        seen.add(candidate)
        found.append(candidate)
    return found


def row_of(names: list[str], types: list[DataType]) -> RowType:
    """Return a row type of columns with unique names."""
    fields = tuple(RowField(name, kind) for name, kind in zip(unique_names(names), types, strict=True))
    return RowType(fields, is_nullable=False)
