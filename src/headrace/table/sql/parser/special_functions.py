"""Functions with keywords among their arguments. The caller takes the name and the parentheses."""

from __future__ import annotations

from headrace.table.sql.parser.ordering import Ordering
from headrace.table.sql.syntax.expressions import Call, Cast, Expression, Literal, Symbol

_ABOVE_IN = 33
"""Binds closer than IN, so that the IN of `POSITION(a IN b)` is not taken for an operator."""


class SpecialFunctions(Ordering):
    """Rules for functions with special syntax."""

    def cast_rule(self, position: int) -> Expression:
        """`value AS type`."""
        kind = self.tokens[self.index - 2].key
        value = self.expression()
        self.need("AS")
        if self.take("INTERVAL"):
            return Cast(value, self.interval_qualifier(), kind, position=position)
        return Cast(value, self.data_type(), kind, position=position)

    def time_unit(self) -> Symbol:
        """A unit of time; the analyzer rejects other words."""
        position = self.token.position
        if self.token.kind not in ("word", "quoted"):
            self.wanted("a unit of time")
        if self.token.key == "WEEK" and self.peek().key == "(":
            self.advance()
            self.need("(")
            day = self.advance().key
            self.need(")")
            return Symbol(f"WEEK_{day}", position=position)
        if self.at_interval_unit() or self.token.key in ("DAY", "HOUR", "MINUTE", "SECOND", "MONTH", "YEAR"):
            return Symbol(self.advance().key, position=position)
        return Symbol(self.identifier().upper(), position=position)

    def extract_rule(self, position: int) -> Expression:
        """`unit FROM value`."""
        unit = self.time_unit()
        self.need("FROM")
        return Call(("EXTRACT",), (unit, self.expression()), position=position)

    def position_rule(self, position: int) -> Expression:
        """`needle IN value [FROM start]`."""
        needle = self.expression(_ABOVE_IN)
        self.need("IN")
        arguments = [needle, self.expression()]
        if self.take("FROM"):
            arguments.append(self.expression())
        return Call(("POSITION",), tuple(arguments), position=position)

    def convert_rule(self, position: int) -> Expression:
        """`value USING charset` or `value, from, to`."""
        value = self.expression()
        if self.take("USING"):
            return Call(("TRANSLATE",), (value,), clauses=(("USING", self.name()),), position=position)
        self.need(",")
        source = self.name()
        self.need(",")
        return Call(("CONVERT",), (value,), clauses=(("FROM", source), ("TO", self.name())), position=position)

    def translate_rule(self, position: int) -> Expression:
        """`value USING charset` or plain arguments."""
        value = self.expression()
        if self.take("USING"):
            return Call(("TRANSLATE",), (value,), clauses=(("USING", self.name()),), position=position)
        arguments = [value]
        while self.take(","):
            arguments.append(self.expression())
        return Call(("TRANSLATE",), tuple(arguments), position=position)

    def overlay_rule(self, position: int) -> Expression:
        """`value PLACING other FROM start [FOR length]`."""
        arguments = [self.expression()]
        self.need("PLACING")
        arguments.append(self.expression())
        self.need("FROM")
        arguments.append(self.expression())
        if self.take("FOR"):
            arguments.append(self.expression())
        return Call(("OVERLAY",), tuple(arguments), position=position)

    def rounding_rule(self, position: int) -> Expression:
        """`value [TO unit]`, for FLOOR and CEIL."""
        name = self.tokens[self.index - 2].key
        value = self.expression()
        arguments = (value, self.time_unit()) if self.take("TO") else (value,)
        return Call(("CEIL" if name == "CEILING" else name,), arguments, position=position)

    def substring_rule(self, position: int) -> Expression:
        """`value FROM start [FOR length]` or plain arguments."""
        arguments = [self.expression()]
        if not self.take("FROM"):
            self.need(",")
        arguments.append(self.expression())
        if self.take("FOR") or self.take(","):
            arguments.append(self.expression())
        return Call(("SUBSTRING",), tuple(arguments), position=position)

    def trim_rule(self, position: int) -> Expression:
        """`[[BOTH|LEADING|TRAILING] [characters] FROM] value`."""
        side = self.take_any("BOTH", "LEADING", "TRAILING")
        characters: Expression = Literal("STRING", " ")
        if self.at("FROM") and side is None:
            self.fail("'FROM' must follow the characters to trim")
        value = None if self.at("FROM") else self.expression()
        if self.take("FROM"):
            characters, value = value or characters, self.expression()
        assert value is not None
        return Call(("TRIM",), (Symbol(side or "BOTH"), characters, value), position=position)

    def no_arguments_rule(self, position: int) -> Expression:
        """No arguments, as in `MATCH_NUMBER()`."""
        return Call((self.tokens[self.index - 2].key,), position=position)
