"""Constants: numbers, strings, dates and times, intervals."""

from __future__ import annotations

import re
from decimal import Decimal

from headrace.table.sql.parser.types import Types
from headrace.table.sql.syntax.expressions import (
    Expression,
    Identifier,
    IntervalExpression,
    IntervalLiteral,
    Literal,
    TemporalLiteral,
)

_BRACES = {"D": "DATE", "T": "TIME", "TS": "TIMESTAMP"}
_C_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_C_ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)


class Literals(Types):
    """Rules for constants."""

    def number(self) -> Literal:
        """A number without a sign."""
        kind, position = self.token.kind, self.token.position
        if kind == "word" and self.token.key == "DECIMAL" and self.peek().kind == "string":
            self.advance()
            return self._decimal_text(position)
        if kind not in ("integer", "decimal", "double"):
            self.wanted("a number")
        text = self.advance().text
        if kind == "integer":
            return Literal("INTEGER", int(text), position=position)
        if kind == "decimal":
            return Literal("DECIMAL", Decimal(text), position=position)
        return Literal("DOUBLE", float(text), position=position)

    def literal(self) -> Expression | None:
        """A constant, or None if none comes next."""
        token = self.token
        kind, key = token.kind, token.key
        if kind in ("integer", "decimal", "double"):
            return self.number()
        if kind in ("string", "prefixed"):
            return self.text_literal()
        if kind == "operator":
            return self._braced() if key == "{" and self.peek().key in _BRACES else None
        if kind != "word":
            return None
        if key in ("TRUE", "FALSE", "NULL", "UNKNOWN"):
            self.advance()
            value = {"TRUE": True, "FALSE": False}.get(key)
            named = "BOOLEAN" if value is not None else key
            return Literal(named, value, position=token.position)
        following = self.peek().kind
        if key in ("DATE", "TIME", "TIMESTAMP") and following == "string":
            self.advance()
            return TemporalLiteral(key, self.string(), position=token.position)
        if key == "DECIMAL" and following == "string":
            return self.number()
        return self.interval() if key == "INTERVAL" else None

    def _decimal_text(self, position: int) -> Literal:
        text = self.string()
        try:
            value = Decimal(text)
        except ArithmeticError:
            self.fail(f"Expected a decimal number, got the string {text!r}", position)
        return Literal("DECIMAL", value, position=position)

    def text_literal(self) -> Literal:
        """A string or binary string; adjacent ones are concatenated."""
        position = self.token.position
        charset: str | None = None
        if self.token.kind == "prefixed":
            taken = self.advance().text
            prefix, _, body = taken.partition("'")
            body = body[:-1].replace("''", "'")
            if prefix in ("x", "X"):
                return self._binary(body, position)
            if prefix in ("u&", "U&"):
                body, charset = self._unicode(body, position), "UTF16"
            elif prefix in ("e", "E"):
                body, charset = self._c_style(body), "UTF16"
            else:
                charset = "ISO-8859-1" if prefix in ("n", "N") else prefix[1:].upper()
        else:
            body = self.string()
        if self.token.kind == "string":
            body += self.strings()
        return Literal("STRING", body, charset, position=position)

    def _binary(self, body: str, position: int) -> Literal:
        if self.token.kind == "string":
            body += self.strings()
        if not re.fullmatch(r"[0-9a-fA-F]*", body):
            self.fail("A binary string may contain only the digits 0 to 9 and A to F", position)
        return Literal("BINARY", bytes.fromhex(body if len(body) % 2 == 0 else "0" + body), position=position)

    def _unicode(self, body: str, position: int) -> str:
        escape = "\\"
        if self.take("UESCAPE"):
            escape = self.string()
            if len(escape) != 1:
                self.fail("The escape character must be a single character", position)
        mark = re.escape(escape)
        if re.search(rf"{mark}(?!{mark}|[0-9a-fA-F]{{4}})", body.replace(escape * 2, "")):
            self.fail("A Unicode escape must have four hexadecimal digits", position)
        pattern = rf"{mark}({mark}|[0-9a-fA-F]{{4}})"
        return re.sub(pattern, lambda m: escape if m[1] == escape else chr(int(m[1], 16)), body)

    def _c_style(self, body: str) -> str:
        def plain(found: re.Match[str]) -> str:
            code = found[1]
            if code[0] in "01234567":
                return chr(int(code, 8))
            if code[0] in "xuU" and len(code) > 1:
                return chr(int(code[1:], 16))
            return _C_ESCAPES.get(code, code)

        return _C_ESCAPE.sub(plain, body)

    def _braced(self) -> Expression:
        position = self.token.position
        self.advance()
        kind = _BRACES[self.advance().key]
        text = self.string()
        self.need("}")
        return TemporalLiteral(kind, text, position=position)

    def interval(self) -> Expression:
        """`INTERVAL` with a string, a number, a column or an expression in parentheses."""
        position = self.need("INTERVAL")
        sign = self.take_any("+", "-")
        if self.token.kind == "string":
            text = self.string()
            return IntervalLiteral(text, self.interval_qualifier(), sign == "-", position=position)
        value: Expression
        if self.take("("):
            value = self.expression()
            self.need(")")
        elif self.token.kind in ("integer", "decimal", "double"):
            value = self.number()
        else:
            value = Identifier(self.name(), position=self.token.position)
        return IntervalExpression(value, self.interval_qualifier(only_start=True), sign == "-", position=position)
