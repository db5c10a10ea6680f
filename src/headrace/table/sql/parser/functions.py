"""Function calls: those with special syntax, and all others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from headrace.table.sql.parser.json_functions import JsonFunctions
from headrace.table.sql.syntax.expressions import (
    Call,
    Default,
    Expression,
    Identifier,
    NamedArgument,
    OrderItem,
    Over,
    Subquery,
    TableArgument,
)
from headrace.table.sql.words import CONTEXT_VARIABLES, FUNCTION_WORDS

_BARE = frozenset(("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP", "USER"))
_TRUNCATIONS = frozenset(("DATE_TRUNC", "DATETIME_TRUNC", "TIMESTAMP_TRUNC", "TIME_TRUNC"))
_DIFFERENCES = frozenset(("TIMESTAMP_DIFF", "TIME_DIFF", "DATETIME_DIFF", "DATE_DIFF"))
_TYPES_AS_FUNCTIONS = frozenset(("DATE", "TIME", "TIMESTAMP", "DATETIME"))
_PERCENTILES = frozenset(("PERCENTILE_CONT", "PERCENTILE_DISC"))


class Functions(JsonFunctions):
    """Rules for calls."""

    def special_call(self) -> Expression | None:
        """A call with special syntax, or None if none comes next."""
        token = self.token
        if token.kind != "word":
            return None
        key = token.key
        if self.peek().key != "(":
            if key in CONTEXT_VARIABLES or key in _BARE:
                self.advance()
                return Call((key,), bare=True, position=token.position)
            return None
        rule = _SPECIAL.get(key)
        if rule is not None:
            self.advance()
            self.need("(")
            found = rule(self, token.position)
            self.need(")")
            return self.call_suffixes(found) if isinstance(found, Call) else found
        if key in _TRUNCATIONS or key in _DIFFERENCES or key in ("TIMESTAMPADD", "TIMESTAMPDIFF"):
            return self._with_units(key)
        if key in FUNCTION_WORDS or key in _TYPES_AS_FUNCTIONS or key == "CONTAINS_SUBSTR":
            self.advance()
            if key in _TYPES_AS_FUNCTIONS and self.peek().key == ")":
                self.advance()
                self.wanted("an expression")
            return self.call((key,), token.position)
        return None

    def call(self, name: tuple[str, ...], position: int) -> Expression:
        """The arguments of a named function, and its suffixes."""
        self.need("(")
        if self.take("*"):
            self.need(")")
            return self.call_suffixes(Call(name, star=True, position=position))
        if self.take(")"):
            return self.call_suffixes(Call(name, position=position))
        quantifier = self.take_any("DISTINCT", "ALL")
        arguments: tuple[Expression, ...]
        if self.at("SELECT", "WITH", "VALUES"):
            arguments = (Subquery(self.query(), position=self.token.position),)
        else:
            arguments = self.separated(self._argument)
        order_by = self.order_by() if self.at("ORDER") else ()
        nulls = None
        if name[-1] in _PERCENTILES and (nulls := self.take_any("IGNORE", "RESPECT")) is not None:
            self.need("NULLS")
        self.need(")")
        call = Call(name, arguments, quantifier, order_by=order_by, nulls=nulls, position=position)
        return self.call_suffixes(call)

    def call_suffixes(self, found: Call) -> Expression:
        """`IGNORE NULLS`, `WITHIN GROUP (...)`, `FILTER (...)`, `OVER ...`, in this order."""
        call = found
        if self.take("WITHIN", "DISTINCT"):
            call = replace(call, within_distinct=self.parenthesized(self.expression))
        if (word := self.take_any("IGNORE", "RESPECT") if self.peek().key == "NULLS" else None) is not None:
            self.need("NULLS")
            call = replace(call, nulls=word)
        if self.take("WITHIN", "GROUP"):
            self.need("(")
            call = replace(call, within_group=self.order_by())
            self.need(")")
        if self.at("FILTER") and self.peek().key == "(":
            self.advance()
            self.need("(", "WHERE")
            call = replace(call, filter=self.expression())
            self.need(")")
        if not self.take("OVER"):
            return call
        window = self.window_specification() if self.at("(") else self.identifier()
        return Over(call, window, position=found.position)

    def _with_units(self, key: str) -> Expression:
        """Functions whose first (TIMESTAMPADD) or last (DATE_TRUNC) argument is a unit of time."""
        position = self.advance().position
        self.need("(")
        arguments: list[Expression] = []
        if key in ("TIMESTAMPADD", "TIMESTAMPDIFF"):
            arguments = [self.time_unit()]
            for _ in range(2):
                self.need(",")
                arguments.append(self.expression())
        else:
            arguments = [self.expression()]
            while self.take(","):
                last = self.token.kind == "word" and (self.at_interval_unit() or self.token.key == "WEEK")
                arguments.append(self.time_unit() if last else self.expression())
        self.need(")")
        return self.call_suffixes(Call((key,), tuple(arguments), position=position))

    def _argument(self) -> Expression:
        position = self.token.position
        if self.is_identifier() and self.peek().key == "=>":
            name = self.identifier()
            self.need("=>")
            return NamedArgument(name, self._unnamed_argument(), position=position)
        return self._unnamed_argument()

    def _unnamed_argument(self) -> Expression:
        position = self.token.position
        if self.take("DEFAULT"):
            return Default(position=position)
        if self.at("TABLE") or (self.token.key == "MODEL" and self.is_identifier(self.peek())):
            kind = self.advance().key
            return self._distribution(TableArgument(self.name(), kind, position=position))
        if self.at("CURSOR") and self.peek().key == "(":
            self.advance()
            self.need("(")
            cursor = Subquery(self.query(), position=position)
            self.need(")")
            return Call(("CURSOR",), (cursor,), position=position)
        found = self.expression()
        if isinstance(found, Subquery) and self.at("PARTITION"):
            return self._distribution(TableArgument(found.query, position=position))
        if isinstance(found, Identifier) and self.at("PARTITION"):
            return self._distribution(TableArgument(found.names, position=position))
        return found

    def _distribution(self, argument: TableArgument) -> TableArgument:
        """`PARTITION BY ... ORDER BY ...` after a table argument."""
        partition_by: tuple[Expression, ...] = ()
        order_by: tuple[OrderItem, ...] = ()
        if self.take("PARTITION", "BY"):
            enclosed = self.at("(")
            partition_by = self.parenthesized(self.expression) if enclosed else (self.expression(),)
        if self.at("ORDER"):
            self.need("ORDER", "BY")
            order_by = self.parenthesized(self.order_item) if self.at("(") else (self.order_item(),)
        if not partition_by and not order_by:
            return argument
        return TableArgument(argument.table, argument.kind, partition_by, order_by, position=argument.position)


_SPECIAL: dict[str, Callable[[Functions, int], Expression]] = {
    "CAST": Functions.cast_rule,
    "TRY_CAST": Functions.cast_rule,
    "SAFE_CAST": Functions.cast_rule,
    "EXTRACT": Functions.extract_rule,
    "POSITION": Functions.position_rule,
    "CONVERT": Functions.convert_rule,
    "TRANSLATE": Functions.translate_rule,
    "OVERLAY": Functions.overlay_rule,
    "FLOOR": Functions.rounding_rule,
    "CEIL": Functions.rounding_rule,
    "CEILING": Functions.rounding_rule,
    "SUBSTRING": Functions.substring_rule,
    "TRIM": Functions.trim_rule,
    "JSON_EXISTS": Functions.json_exists_rule,
    "JSON_VALUE": Functions.json_value_rule,
    "JSON_QUERY": Functions.json_query_rule,
    "JSON_OBJECT": Functions.json_object_rule,
    "JSON_OBJECTAGG": Functions.json_objectagg_rule,
    "JSON_ARRAY": Functions.json_array_rule,
    "JSON_ARRAYAGG": Functions.json_arrayagg_rule,
    "CLASSIFIER": Functions.no_arguments_rule,
    "MATCH_NUMBER": Functions.no_arguments_rule,
}
