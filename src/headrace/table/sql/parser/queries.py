"""Queries: SELECT, VALUES, set operations, WITH, ORDER BY and LIMIT."""

from __future__ import annotations

from headrace.table.sql.parser.match_recognize import Patterns
from headrace.table.sql.syntax.expressions import Expression, Parameter, Row, Star, Subquery, WindowSpecification
from headrace.table.sql.syntax.queries import (
    CommonTable,
    ExplicitTable,
    GroupingSet,
    Ordered,
    Query,
    Select,
    SelectItem,
    SetOperation,
    Values,
    With,
)

_SET_POWERS = {"UNION": 1, "EXCEPT": 1, "MINUS": 1, "INTERSECT": 2}


class Queries(Patterns):
    """Rules for queries."""

    def starts_query(self) -> bool:
        """Return whether a query without parentheses comes next."""
        return self.at("SELECT", "WITH", "VALUES", "VALUE") or (self.at("TABLE") and self.peek().key != "(")

    def query(self) -> Query:
        """A query with its ORDER BY and LIMIT."""
        position = self.token.position
        if not self.take("WITH"):
            return self._ordered(self._set_operations(0, None))
        recursive = self.take("RECURSIVE")
        tables = self.separated(self._common_table)
        body = With(tables, self._set_operations(0, None), recursive, position=position)
        return self._ordered(body)

    def query_after(self, left: Query) -> Query:
        """The rest of a query whose first part, in parentheses, was already read."""
        return self._ordered(self._set_operations(0, left))

    def _common_table(self) -> CommonTable:
        position = self.token.position
        name = self.identifier()
        columns = self.identifiers() if self.at("(") else ()
        self.need("AS")
        self.need("(")
        if self.starts_query() or self.at("("):
            query = self.query()
        else:
            self.wanted("a query")
        self.need(")")
        return CommonTable(name, columns, query, position=position)

    def _set_operations(self, power: int, left: Query | None) -> Query:
        if left is None:
            left = self._leaf()
        while (binding := _SET_POWERS.get(self.token.key, 0)) > power:
            position = self.token.position
            operator = self.advance().key
            if operator == "MINUS":
                self.fail("MINUS is not supported; write EXCEPT", position)
            every = self.take_any("ALL", "DISTINCT") == "ALL"
            right = self._set_operations(binding, None)
            left = SetOperation(operator, every, left, right, position=position)
        return left

    def _leaf(self) -> Query:
        position = self.token.position
        if self.at("SELECT"):
            return self._select()
        if self.take("VALUES") or self.take("VALUE"):
            return Values(self.separated(self._values_row), position=position)
        if self.take("TABLE"):
            return ExplicitTable(self.name(), position=position)
        if self.at("("):
            found = self.expression(99)
            if isinstance(found, Subquery):
                return found.query
            self.fail("Expected a query", position)
        self.wanted("a query")

    def _values_row(self) -> Expression:
        position = self.token.position
        if self.at("("):
            return Row(self.parenthesized(self._value_or_default), position=position)
        found = self.expression()
        return found if isinstance(found, Row) else Row((found,), position=position)

    def _ordered(self, query: Query) -> Query:
        position = self.token.position
        order_by = self.order_by() if self.at("ORDER") else ()
        limit = offset = None
        limited = False
        if self.take("LIMIT"):
            limited = True
            if not self.take("ALL"):
                limit = self._count()
            if self.at(","):
                self.fail("'LIMIT start, count' is not supported; write 'LIMIT count OFFSET start'")
        if self.take("OFFSET"):
            offset = self._count()
            self.take_any("ROW", "ROWS")
            if self.at("LIMIT"):
                self.fail("LIMIT must come before OFFSET")
        if not limited and self.take("FETCH"):
            self.need_any("FIRST", "NEXT")
            limit = self._count()
            self.need_any("ROW", "ROWS")
            self.need("ONLY")
        if not order_by and limit is None and offset is None:
            return query
        return Ordered(query, order_by, offset, limit, position=position)

    def _count(self) -> Expression:
        position = self.token.position
        return Parameter(position=position) if self.take("?") else self.number()

    # -- SELECT ---------------------------------------------------------------------------------------------------

    def _select(self) -> Query:
        position = self.need("SELECT")
        hints = self.hints() if self.at("/*+") else ()
        self.take("STREAM")
        distinct = self.take_any("DISTINCT", "ALL") == "DISTINCT"
        items = self.separated(self._select_item)
        if not self.take("FROM"):
            return Select(items, distinct=distinct, hints=hints, position=position)
        source = self.from_clause()
        where = self.expression() if self.take("WHERE") else None
        group_by, group_distinct = self._group_by()
        having = self.expression() if self.take("HAVING") else None
        windows = self.separated(self._named_window) if self.take("WINDOW") else ()
        qualify = self.expression() if self.take("QUALIFY") else None
        return Select(
            items, source, where, group_by, having, windows, qualify, distinct, group_distinct, hints, position=position
        )

    def _select_item(self) -> SelectItem:
        position = self.token.position
        value: Expression = Star(position=position) if self.take("*") else self.expression()
        named = self.take("AS")
        if self.token.kind == "string":
            self.fail("An alias must be an identifier; quote it with backticks")
        if named or self.is_identifier():
            return SelectItem(value, self.identifier(), position=position)
        return SelectItem(value, position=position)

    def _group_by(self) -> tuple[tuple[Expression, ...] | None, bool]:
        if not self.take("GROUP", "BY"):
            return None, False
        distinct = self.take_any("DISTINCT", "ALL") == "DISTINCT"
        return self.separated(self._grouping_element), distinct

    def _grouping_element(self) -> Expression:
        position = self.token.position
        if self.take("GROUPING", "SETS"):
            return GroupingSet("GROUPING SETS", self.parenthesized(self._grouping_element), position=position)
        if self.at("ROLLUP", "CUBE"):
            kind = self.advance().key
            return GroupingSet(kind, self.parenthesized(self.expression), position=position)
        if self.take("(", ")"):
            return Row((), position=position)
        return self.expression()

    def _named_window(self) -> tuple[str, WindowSpecification]:
        name = self.identifier()
        self.need("AS")
        return name, self.window_specification()
