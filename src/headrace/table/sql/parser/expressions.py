"""Expressions: operators by their binding power, and their operands.

Powers, from loose to tight: OR 22, AND 24, NOT 26, IS 28, comparisons 30, BETWEEN / IN / LIKE 32, `+ -` 40,
`* / % ||` 60, signs 80, `[]` and `.` 100.
"""

from __future__ import annotations

from headrace.table.sql.parser.functions import Functions
from headrace.table.sql.syntax.expressions import (
    Between,
    Binary,
    Call,
    Case,
    CollectionConstructor,
    Default,
    Exists,
    Expression,
    FieldAccess,
    Identifier,
    In,
    IntervalExpression,
    Is,
    IsDistinct,
    ItemAccess,
    Like,
    Parameter,
    Quantified,
    Row,
    Star,
    Subquery,
    Unary,
)
from headrace.table.sql.syntax.queries import Query

_COMPARISONS = frozenset(("=", "<>", "<", ">", "<=", ">="))
_PERIODS = frozenset(("OVERLAPS", "CONTAINS", "EQUALS", "PRECEDES", "SUCCEEDS"))
_POWERS = {
    "OR": 22,
    "AND": 24,
    "IS": 28,
    **dict.fromkeys(_COMPARISONS, 30),
    **dict.fromkeys(_PERIODS, 30),
    "IMMEDIATELY": 30,
    "MEMBER": 30,
    "SUBMULTISET": 30,
    "BETWEEN": 32,
    "IN": 32,
    "LIKE": 32,
    "ILIKE": 32,
    "RLIKE": 32,
    "SIMILAR": 32,
    "MULTISET": 34,
    "FORMAT": 36,
    "+": 40,
    "-": 40,
    "*": 60,
    "/": 60,
    "%": 60,
    "||": 60,
}
_NEGATABLE = frozenset(("BETWEEN", "IN", "LIKE", "ILIKE", "RLIKE", "SIMILAR"))
SET_WORDS = ("UNION", "INTERSECT", "EXCEPT", "MINUS", "ORDER", "LIMIT", "OFFSET", "FETCH")
"""Words that continue a query whose first part is in parentheses."""
_JSON_KINDS = ("VALUE", "OBJECT", "ARRAY", "SCALAR")


class Expressions(Functions):
    """Rules for values."""

    def expression(self, power: int = 0) -> Expression:
        """An expression whose operators bind tighter than `power`."""
        left = self._prefix()
        while True:
            token = self.token
            key = token.key
            binding = _POWERS.get(key, 0)
            if key == "NOT" and self.peek().key in _NEGATABLE:
                binding = 32
            if not binding or binding <= power or (key == "FORMAT" and self.peek().key != "JSON"):
                if token.kind == "operator" and key == "!=":
                    self.fail("'!=' is not an operator of Flink SQL; write '<>'")
                return left
            left = self._infix(left, key, binding)

    def _prefix(self) -> Expression:
        position = self.token.position
        key = self.token.key
        if key in ("+", "-"):
            self.advance()
            return Unary(key, self.expression(79), position=position)
        if key == "NOT":
            self.advance()
            return Unary(key, self.expression(26), position=position)
        return self._postfix(self._primary())

    # -- operators behind a value ---------------------------------------------------------------------------------

    def _infix(self, left: Expression, key: str, power: int) -> Expression:
        position = self.token.position
        if key in ("+", "-", "*", "/", "%", "||", "AND", "OR"):
            self.advance()
            return Binary(key, left, self.expression(power), position=position)
        if key in _COMPARISONS:
            return self._comparison(left)
        if key == "IS":
            return self._is(left)
        if key == "FORMAT":
            self.need("FORMAT", "JSON")
            return Call(("FORMAT JSON",), (left,), position=position)
        negated = self.take("NOT")
        if self.at("BETWEEN"):
            return self._between(left, negated)
        if self.at("IN"):
            self.advance()
            return In(left, self._candidates(), negated, position=position)
        if self.at("LIKE", "ILIKE", "RLIKE", "SIMILAR"):
            return self._like(left, negated)
        return self._other_infix(left, power)

    def _comparison(self, left: Expression) -> Expression:
        position = self.token.position
        operator = self.advance().key
        if self.at("SOME", "ANY", "ALL") and self.peek().key == "(":
            quantifier = self.advance().key
            return Quantified(left, operator, quantifier, self._candidates(), position=position)
        return Binary(operator, left, self.expression(30), position=position)

    def _candidates(self) -> Query | tuple[Expression, ...]:
        """A query or a list of values in parentheses."""
        self.need("(")
        found = self._in_parentheses()
        self.need(")")
        if isinstance(found, Query):
            return found
        if len(found) == 1 and isinstance(found[0], Subquery):
            return found[0].query
        return found

    def _is(self, left: Expression) -> Expression:
        position = self.advance().position
        negated = self.take("NOT")
        if self.take("DISTINCT"):
            self.need("FROM")
            return IsDistinct(left, self.expression(30), negated, position=position)
        if self.take("A"):
            self.need("SET")
            return Is(left, "A SET", negated, position=position)
        if self.take("JSON"):
            kind = self.take_any(*_JSON_KINDS) or "VALUE"
            return Is(left, f"JSON {kind}", negated, position=position)
        return Is(left, self.need_any("NULL", "TRUE", "FALSE", "UNKNOWN", "EMPTY"), negated, position=position)

    def _between(self, left: Expression, negated: bool) -> Expression:
        position = self.advance().position
        symmetric = self.take_any("SYMMETRIC", "ASYMMETRIC") == "SYMMETRIC"
        low = self.expression(24)
        while self.at("OR"):
            where = self.advance().position
            low = Binary("OR", low, self.expression(24), position=where)
        self.need("AND")
        return Between(left, low, self.expression(32), negated, symmetric, position=position)

    def _like(self, left: Expression, negated: bool) -> Expression:
        position = self.token.position
        kind = self.advance().key
        if kind == "SIMILAR":
            self.need("TO")
            kind = "SIMILAR TO"
        pattern = self.expression(32)
        escape = self.expression(79) if self.take("ESCAPE") else None
        return Like(left, pattern, escape, negated, kind, position=position)

    def _other_infix(self, left: Expression, power: int) -> Expression:
        position = self.token.position
        word = self.need_any("MEMBER", "SUBMULTISET", "MULTISET", "IMMEDIATELY", *_PERIODS)
        if word in ("MEMBER", "SUBMULTISET"):
            self.need("OF")
            word = f"{word} OF"
        elif word == "MULTISET":
            word = f"MULTISET {self.need_any('UNION', 'INTERSECT', 'EXCEPT')}"
            if self.take_any("ALL", "DISTINCT") == "ALL":
                word += " ALL"
        elif word == "IMMEDIATELY":
            word = f"IMMEDIATELY {self.need_any('PRECEDES', 'SUCCEEDS')}"
        return Binary(word, left, self.expression(power), position=position)

    def _postfix(self, value: Expression) -> Expression:
        while True:
            position = self.token.position
            if self.take("["):
                mode = None
                if self.at("OFFSET", "ORDINAL", "SAFE_OFFSET", "SAFE_ORDINAL"):
                    mode = self.advance().key
                    self.need("(")
                index = self.expression()
                if mode is not None:
                    self.need(")")
                self.need("]")
                value = ItemAccess(value, index, mode, position=position)
            elif self.token.key == "." and self.token.kind == "operator":
                self.advance()
                name = self.identifier()
                if self.at("("):
                    value = self.call((name,), position)
                else:
                    value = FieldAccess(value, name, position=position)
            else:
                return value

    # -- values ---------------------------------------------------------------------------------------------------

    def _primary(self) -> Expression:
        token = self.token
        key, position = token.key, token.position
        if token.kind == "operator":
            return self._primary_operator(key, position)
        found = self.literal() or self.special_call()
        if found is not None:
            return found
        if token.kind == "word":
            if key == "CASE":
                return self._case()
            if key in ("EXISTS", "UNIQUE") and self.peek().key == "(":
                self.advance()
                return Exists(self._query_in_parentheses(), key, position=position)
            if key in ("ARRAY", "MAP", "MULTISET") and self.peek().key in ("[", "("):
                return self._collection(key, position)
            if key == "ROW":
                self.advance()
                return self._row(position)
            if key == "PERIOD":
                self.advance()
                return self._period(position)
            rare = self._rare(key, position)
            if rare is not None:
                return rare
        if not self.is_identifier():
            self.wanted("an expression")
        return self._column_or_call(position)

    def _primary_operator(self, key: str, position: int) -> Expression:
        if key == "(":
            return self._parentheses(position)
        if key == "?":
            self.advance()
            return Parameter(position=position)
        if key == "{":
            found = self.literal()
            if found is not None:
                return found
            self.need("{", "FN")
            call = self._braced_call(position)
            self.need("}")
            return call
        self.wanted("an expression")

    def _braced_call(self, position: int) -> Expression:
        found = self.special_call()
        if found is not None:
            return found
        word = self.advance()
        if word.kind not in ("word", "quoted"):
            self.wanted("a function")
        return self.call((word.text,), position)

    def _rare(self, key: str, position: int) -> Expression | None:
        """NEXT VALUE FOR, NEW f(...), and, in patterns only, RUNNING, FINAL, PREV, NEXT."""
        following = self.peek()
        if key in ("NEXT", "CURRENT") and following.key == "VALUE":
            self.advance()
            self.need("VALUE", "FOR")
            return Call((f"{key} VALUE",), (Identifier(self.name()),), position=position)
        if key in ("RUNNING", "FINAL") and following.kind in ("word", "quoted") and self.peek(2).key in ("(", "."):
            self.advance()
            return Call((key,), (self._primary(),), position=position)
        if key in ("PREV", "NEXT") and following.key == "(":
            self.advance()
            return self.call((key,), position)
        if key == "NEW":
            self.advance()
            return Call(("NEW",), (self.call(self.name(), position),), position=position)
        return None

    def _column_or_call(self, position: int) -> Expression:
        names = [self.identifier()]
        while self.token.key == "." and self.token.kind == "operator":
            following = self.peek()
            if following.key == "*" and following.kind == "operator":
                self.advance()
                self.advance()
                return Star(tuple(names), position=position)
            if not self.is_identifier(following):
                self.advance()
                self.wanted("an identifier")
            self.advance()
            names.append(self.identifier())
        if self.at("("):
            return self.call(tuple(names), position)
        return Identifier(tuple(names), position=position)

    def _case(self) -> Expression:
        position = self.advance().position
        operand = None if self.at("WHEN") else self.expression()
        branches: list[tuple[tuple[Expression, ...], Expression]] = []
        while self.take("WHEN"):
            tests = self.separated(self.expression)
            self.need("THEN")
            branches.append((tests, self.expression()))
        if not branches:
            self.need("WHEN")
        otherwise = self.expression() if self.take("ELSE") else None
        self.need("END")
        return Case(operand, tuple(branches), otherwise, position=position)

    def _row(self, position: int) -> Expression:
        self.need("(")
        items = () if self.at(")") else self.separated(self._row_item)
        self.need(")")
        return Row(items, position=position)

    def _period(self, position: int) -> Expression:
        self.need("(")
        start = self.expression()
        self.need(",")
        end = self.expression()
        self.need(")")
        return Row((start, end), position=position)

    def _row_item(self) -> Expression:
        position = self.token.position
        return Star(position=position) if self.take("*") else self._value_or_default()

    def _value_or_default(self) -> Expression:
        position = self.token.position
        return Default(position=position) if self.take("DEFAULT") else self.expression()

    def _collection(self, kind: str, position: int) -> Expression:
        self.advance()
        items: Query | tuple[Expression, ...] = ()
        if self.take("["):
            items = () if self.at("]") else self.separated(self.expression)
            self.need("]")
            return CollectionConstructor(kind, items, position=position)
        self.need("(")
        if not self.at(")"):
            items = self._in_parentheses()
        self.need(")")
        if isinstance(items, tuple):
            return self.call_suffixes(Call((kind,), items, position=position))
        return CollectionConstructor(kind, items, position=position)

    # -- parentheses ----------------------------------------------------------------------------------------------

    def _query_in_parentheses(self) -> Query:
        found = self._candidates()
        return found if isinstance(found, Query) else self.wanted("a query")

    def _in_parentheses(self) -> Query | tuple[Expression, ...]:
        """A query, or one or more values, after the opening parenthesis. Does not take the closing one."""
        if self.starts_query():
            return self.query()
        first = self.expression()
        if isinstance(first, Subquery) and self.at(*SET_WORDS):
            return self.query_after(first.query)
        items = [first]
        while self.take(","):
            items.append(self._value_or_default())
        return tuple(items)

    def _parentheses(self, position: int) -> Expression:
        self.need("(")
        found = self._in_parentheses()
        self.need(")")
        if isinstance(found, Query):
            return Subquery(found, position=position)
        if len(found) > 1:
            return Row(found, explicit=False, position=position)
        value = found[0]
        if self.at_interval_unit() and self._is_difference(value):
            return IntervalExpression(value, self.interval_qualifier(), position=position)
        return value

    def _is_difference(self, value: Expression) -> bool:
        return isinstance(value, Binary) and value.operator == "-"
