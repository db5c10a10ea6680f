"""The JSON functions of the SQL standard. The caller takes the name and the parentheses."""

from __future__ import annotations

from headrace.table.sql.parser.special_functions import SpecialFunctions
from headrace.table.sql.syntax.expressions import Call, Expression, Subquery


class JsonFunctions(SpecialFunctions):
    """Rules for JSON functions."""

    def _json_input(self) -> tuple[list[Expression], list[tuple[str, object]]]:
        """The first arguments of JSON_VALUE, JSON_QUERY and JSON_EXISTS: the document, the path, and its parameters."""
        clauses: list[tuple[str, object]] = []
        value = self.expression()
        self.need(",")
        arguments = [value, self.expression()]
        if self.take("PASSING"):
            clauses.append(("PASSING", self.separated(self._passed)))
        return arguments, clauses

    def _passed(self) -> tuple[Expression, str]:
        value = self.expression()
        self.need("AS")
        return value, self.identifier()

    def json_exists_rule(self, position: int) -> Expression:
        """`value, path [PASSING ...] [TRUE ON ERROR]`."""
        arguments, clauses = self._json_input()
        if (behaviour := self.take_any("TRUE", "FALSE", "UNKNOWN", "ERROR")) is not None:
            self.need("ON", "ERROR")
            clauses.append(("ON ERROR", behaviour))
        return Call(("JSON_EXISTS",), tuple(arguments), clauses=tuple(clauses), position=position)

    def _returning(self, clauses: list[tuple[str, object]]) -> None:
        if self.take("RETURNING"):
            clauses.append(("RETURNING", self.data_type()))

    def json_value_rule(self, position: int) -> Expression:
        """`value, path [RETURNING type] [NULL ON EMPTY] [NULL ON ERROR]`."""
        arguments, clauses = self._json_input()
        self._returning(clauses)
        while (behaviour := self.take_any("NULL", "ERROR", "DEFAULT")) is not None:
            default = self.expression() if behaviour == "DEFAULT" else None
            self.need("ON")
            clauses.append((f"ON {self.need_any('EMPTY', 'ERROR')}", default or behaviour))
        return Call(("JSON_VALUE",), tuple(arguments), clauses=tuple(clauses), position=position)

    def json_query_rule(self, position: int) -> Expression:
        """`value, path [RETURNING type] [WITH WRAPPER] [NULL ON EMPTY] [NULL ON ERROR]`."""
        arguments, clauses = self._json_input()
        self._returning(clauses)
        if (word := self.take_any("WITH", "WITHOUT")) is not None:
            condition = self.take_any("CONDITIONAL", "UNCONDITIONAL") if word == "WITH" else None
            self.take("ARRAY")
            self.need("WRAPPER")
            clauses.append(("WRAPPER", "WITHOUT" if word == "WITHOUT" else condition or "UNCONDITIONAL"))
        while (behaviour := self.take_any("NULL", "ERROR", "EMPTY")) is not None:
            if behaviour == "EMPTY":
                behaviour = f"EMPTY {self.need_any('ARRAY', 'OBJECT')}"
            self.need("ON")
            clauses.append((f"ON {self.need_any('EMPTY', 'ERROR')}", behaviour))
        return Call(("JSON_QUERY",), tuple(arguments), clauses=tuple(clauses), position=position)

    def _json_pair(self) -> tuple[Expression, Expression]:
        keyed = self.at("KEY") and self.peek().key not in (":", "VALUE", ",", ")", ".", "(")
        if keyed:
            self.advance()
        key = self.expression()
        if not self.take("VALUE"):
            self.need(":")
        return key, self.expression()

    def _on_null(self) -> tuple[tuple[str, object], ...]:
        if self.at("NULL", "ABSENT") and self.peek().key == "ON":
            behaviour = self.advance().key
            self.need("ON", "NULL")
            return (("ON NULL", behaviour),)
        return ()

    def json_object_rule(self, position: int) -> Expression:
        """`[KEY] key VALUE value, ... [NULL ON NULL]`."""
        pairs: tuple[tuple[Expression, Expression], ...] = ()
        if not self.at(")") and not (self.at("NULL", "ABSENT") and self.peek().key == "ON"):
            pairs = self.separated(self._json_pair)
        flat = tuple(part for pair in pairs for part in pair)
        return Call(("JSON_OBJECT",), flat, clauses=self._on_null(), position=position)

    def json_objectagg_rule(self, position: int) -> Expression:
        """`[KEY] key VALUE value [NULL ON NULL]`."""
        key, value = self._json_pair()
        return Call(("JSON_OBJECTAGG",), (key, value), clauses=self._on_null(), position=position)

    def json_array_rule(self, position: int) -> Expression:
        """`value, ... [NULL ON NULL]`."""
        items: tuple[Expression, ...] = ()
        if not self.at(")") and not (self.at("NULL", "ABSENT") and self.peek().key == "ON"):
            items = self.separated(self.expression)
        if any(isinstance(item, Subquery) for item in items):
            self.fail("A query is not allowed here", position)
        return Call(("JSON_ARRAY",), items, clauses=self._on_null(), position=position)

    def json_arrayagg_rule(self, position: int) -> Expression:
        """`value [ORDER BY ...] [NULL ON NULL]`."""
        value = self.expression()
        order_by = self.order_by() if self.at("ORDER") else ()
        return Call(("JSON_ARRAYAGG",), (value,), order_by=order_by, clauses=self._on_null(), position=position)
