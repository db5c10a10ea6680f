"""The FROM clause: tables, joins, table functions, samples, pivots."""

from __future__ import annotations

from headrace.table.sql.parser.expressions import SET_WORDS, Expressions
from headrace.table.sql.syntax.expressions import Call, Expression, Unary
from headrace.table.sql.syntax.queries import (
    Aliased,
    AsOf,
    Derived,
    Extended,
    Hint,
    Join,
    Pivot,
    Relation,
    Sample,
    SelectItem,
    TableFunction,
    TableName,
    Unnest,
    Unpivot,
)
from headrace.table.sql.syntax.types import TypeField


class Relations(Expressions):
    """Rules for relations."""

    def from_clause(self) -> Relation:
        """Relations separated by commas, which bind looser than joins."""
        left = self.joined()
        while self.at(","):
            position = self.advance().position
            left = Join(left, self.joined(), "COMMA", position=position)
        return left

    def joined(self) -> Relation:
        """A relation with its joins."""
        left = self.relation()
        while (kind := self._join_kind()) is not None:
            natural, kind = kind.startswith("NATURAL "), kind.removeprefix("NATURAL ")
            position = self.token.position
            right = self.relation()
            condition, using = None, None
            if self.take("ON"):
                condition = self.expression()
            elif self.take("USING"):
                using = self.identifiers()
            left = Join(left, right, kind, natural, condition, using, position=position)
        return left

    def _join_kind(self) -> str | None:
        if self.at("CROSS", "OUTER") and self.peek().key == "APPLY":
            self.fail("APPLY is not supported; write CROSS JOIN LATERAL or LEFT JOIN LATERAL ... ON TRUE")
        natural = "NATURAL " if self.take("NATURAL") else ""
        if self.take("JOIN"):
            return f"{natural}INNER"
        if self.take("INNER", "JOIN"):
            return f"{natural}INNER"
        if self.take("CROSS", "JOIN"):
            return f"{natural}CROSS"
        if self.at("LEFT", "RIGHT", "FULL") and self.peek().key in ("JOIN", "OUTER"):
            kind = self.advance().key
            self.take("OUTER")
            self.need("JOIN")
            return natural + kind
        if natural:
            self.wanted("JOIN")
        return None

    # -- one relation ---------------------------------------------------------------------------------------------

    def relation(self) -> Relation:
        """A relation with its alias and sample."""
        found = self._bare_relation()
        while self.at("PIVOT", "UNPIVOT"):
            found = self._pivot(found) if self.at("PIVOT") else self._unpivot(found)
        position = self.token.position
        if self.take("AS") or self.is_identifier():
            if isinstance(found, Join):
                self.fail("A join in parentheses cannot have an alias", position)
            alias = self.identifier()
            columns = self.identifiers() if self.at("(") else ()
            found = Aliased(found, alias, columns, position=position)
        return self._sample(found) if self.at("TABLESAMPLE") else found

    def _bare_relation(self) -> Relation:
        position = self.token.position
        lateral = self.take("LATERAL")
        if self.at("("):
            return self._in_time(self._enclosed(position, lateral))
        if self.take("TABLE"):
            return self._table_function(position, lateral)
        if lateral:
            self.wanted("TABLE")
        if self.take("UNNEST"):
            arguments = self.parenthesized(self.expression)
            ordinality = self.take("WITH", "ORDINALITY")
            return Unnest(arguments, ordinality, position=position)
        names = self.name()
        if self.at("("):
            if self.is_identifier(self.peek()) and self._declares_column():
                return self._in_time(self._extended(TableName(names, position=position)))
            return TableFunction(self.call(names, position), position=position)
        hints = self.hints() if self.at("/*+") else ()
        table: Relation = TableName(names, hints, position=position)
        if self.take("EXTEND"):
            table = self._extended(table)
        return self._in_time(table)

    def _declares_column(self) -> bool:
        """Return whether this is `t (x INT)`, a table with more columns, and not `f(x)`, a call."""
        after = self.peek(2)
        return after.kind == "word" and after.key not in (
            "AND",
            "OR",
            "IS",
            "IN",
            "NOT",
            "LIKE",
            "BETWEEN",
            "PARTITION",
        )

    def _extended(self, table: Relation) -> Relation:
        position = self.token.position
        columns = self.parenthesized(self._extra_column)
        return Extended(table, columns, position=position)

    def _extra_column(self) -> TypeField:
        position = self.token.position
        return TypeField(self.identifier(), self.nullable_type(), position=position)

    def _enclosed(self, position: int, lateral: bool) -> Relation:
        """A query or a join in parentheses."""
        self.need("(")
        if self.starts_query():
            query = self.query()
            self.need(")")
            return Derived(query, lateral, position=position)
        inner = self.joined()
        if isinstance(inner, Derived) and self.at(*SET_WORDS):
            inner = Derived(self.query_after(inner.query), lateral, position=position)
        elif not isinstance(inner, (Derived, Join)):
            self.fail("Expected a query or a join in the parentheses", position)
        self.need(")")
        return inner

    def _table_function(self, position: int, lateral: bool) -> Relation:
        self.need("(")
        call = self._table_call()
        self.need(")")
        return TableFunction(call, lateral, position=position)

    def _table_call(self) -> Expression:
        position = self.token.position
        if self.token.key == "TABLE":
            self.wanted("a table function")
        found = self.special_call()
        if found is None:
            found = self.call(self.name(), position)
        if not isinstance(found, Call):
            self.fail("Expected a table function", position)
        return found

    def _in_time(self, relation: Relation) -> Relation:
        """`FOR SYSTEM_TIME AS OF ...` and `MATCH_RECOGNIZE (...)` after a table or query."""
        position = self.token.position
        if self.take("FOR"):
            self.need("SYSTEM_TIME", "AS", "OF")
            relation = AsOf(relation, self.expression(), position=position)
        if self.at("MATCH_RECOGNIZE"):
            relation = self.match_recognize(relation)
        return relation

    def match_recognize(self, relation: Relation) -> Relation:
        """Defined in `match_recognize`."""
        raise NotImplementedError

    def _sample(self, relation: Relation) -> Relation:
        position = self.advance().position
        method = self.need_any("BERNOULLI", "SYSTEM", "SUBSTITUTE")
        self.need("(")
        argument: Expression = self.text_literal() if method == "SUBSTITUTE" else self.number()
        self.need(")")
        seed: Expression | None = None
        if method != "SUBSTITUTE" and self.take("REPEATABLE"):
            self.need("(")
            negative = self.take("-")
            seed = self.number()
            if negative:
                seed = Unary("-", seed)
            self.need(")")
        return Sample(relation, method, argument, seed, position=position)

    # -- hints ----------------------------------------------------------------------------------------------------

    def hints(self) -> tuple[Hint, ...]:
        """`/*+ OPTIONS('k' = 'v'), BROADCAST(t) */`."""
        self.need("/*+")
        found = self.separated(self._hint)
        self.need("*/")
        return found

    def _hint(self) -> Hint:
        position = self.token.position
        name = self.identifier()
        if not self.take("("):
            return Hint(name, position=position)
        options: list[tuple[str, str]] = []
        arguments: list[str] = []
        if not self.at(")"):
            pairs = self._pairs_follow()
            literals = self.token.kind in ("string", "integer", "decimal", "double")
            while True:
                if pairs:
                    key = self.strings() if self.token.kind == "string" else self.identifier()
                    self.need("=")
                    options.append((key, self.strings()))
                elif literals:
                    arguments.append(self.string() if self.token.kind == "string" else str(self.number().value))
                else:
                    arguments.append(self.identifier())
                if not self.take(","):
                    break
        self.need(")")
        return Hint(name, tuple(options), tuple(arguments), position=position)

    def _pairs_follow(self) -> bool:
        """Return whether `key = value` comes next, and not a list of names or constants."""
        offset = 1
        while self.token.kind == "string" and self.peek(offset).kind == "string":
            offset += 1
        return self.peek(offset).key == "="

    # -- pivots ---------------------------------------------------------------------------------------------------

    def _names_or_name(self) -> tuple[str, ...]:
        return self.identifiers() if self.at("(") else (self.identifier(),)

    def _aliased(self) -> SelectItem:
        value = self.expression(33)
        alias = self.identifier() if self.take("AS") or self.is_identifier() else None
        return SelectItem(value, alias)

    def _pivot(self, relation: Relation) -> Relation:
        position = self.advance().position
        self.need("(")
        aggregates = self.separated(self._aliased)
        self.need("FOR")
        axes = self._names_or_name()
        self.need("IN", "(")
        values = () if self.at(")") else self.separated(self._aliased)
        self.need(")", ")")
        return Pivot(relation, aggregates, axes, values, position=position)

    def _unpivot(self, relation: Relation) -> Relation:
        position = self.advance().position
        include = None
        if (word := self.take_any("INCLUDE", "EXCLUDE")) is not None:
            self.need("NULLS")
            include = word == "INCLUDE"
        self.need("(")
        measures = self._names_or_name()
        self.need("FOR")
        axes = self._names_or_name()
        self.need("IN", "(")
        values = () if self.at(")") else self.separated(self._unpivoted)
        self.need(")", ")")
        return Unpivot(relation, measures, axes, values, include, position=position)

    def _unpivoted(self) -> tuple[tuple[str, ...], Expression | None]:
        names = self._names_or_name()
        if not self.take("AS"):
            return names, None
        value = self.expression()
        return names, value
