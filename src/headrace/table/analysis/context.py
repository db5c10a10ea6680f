"""What every part of an analysis needs: the catalog, the session, and the queries of WITH clauses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from headrace.table.analysis.catalog_view import Catalog, Function
from headrace.table.analysis.errors import unknown
from headrace.table.analysis.inline import InlineCall
from headrace.table.analysis.scopes import Scope
from headrace.table.functions.definition import ScalarFunction, Session
from headrace.table.functions.registry import aggregate_functions, scalar_functions, table_functions
from headrace.table.plan.relations import Relation
from headrace.table.sql.syntax.expressions import Call
from headrace.table.sql.syntax.queries import Query

AnalyseQuery = Callable[["Context", Query, Scope | None], Relation]


@dataclass(frozen=True)
class Context:
    """The surroundings of a query. `analyse` is the analysis of queries itself, which subqueries need."""

    catalog: Catalog
    session: Session
    analyse: AnalyseQuery
    common_tables: Mapping[str, Relation] = field(default_factory=dict)

    def query(self, query: Query, parent: Scope | None = None) -> Relation:
        """Return the relation of a query inside another one, whose columns are those of `parent`."""
        return self.analyse(self, query, parent)

    def with_tables(self, tables: Mapping[str, Relation]) -> Context:
        """Return the context of a query with a WITH clause."""
        return replace(self, common_tables={**self.common_tables, **tables})

    def called(self, node: Call) -> Function:
        """Return the function of a call."""
        if isinstance(node, InlineCall) and node.function is not None:
            return node.function
        return self.function(node.name, node.position)

    # -- functions ----------------------------------------------------------------------------------------------------

    def function(self, name: tuple[str, ...], position: int = -1) -> Function:
        """Return a function: one of the session or a catalog, or a built-in one."""
        found = self.catalog.function(name)
        if found is None and len(name) == 1:
            upper = name[0].upper()
            found = scalar_functions().get(upper) or aggregate_functions().get(upper) or table_functions().get(upper)
        if found is None:
            raise unknown("function", ".".join(name), self._function_names(), position)
        return found

    def _function_names(self) -> Iterator[str]:
        yield from self.catalog.function_names()
        yield from scalar_functions()
        yield from aggregate_functions()
        yield from table_functions()


def built_in(name: str, position: int = -1) -> ScalarFunction:
    """Return the built-in function behind an operator."""
    found = scalar_functions().get(name)
    if found is None:
        raise unknown("function", name, scalar_functions(), position)
    return found
