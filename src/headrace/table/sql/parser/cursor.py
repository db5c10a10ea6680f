"""The position in the tokens, and the basic operations that all rules use.

A rule either takes tokens and returns a node, or raises an error. A second pass collects the tokens that were expected at
the position of the error, so that valid statements do not pay for good messages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, TypeVar

from headrace.table.sql.errors import SqlParseError
from headrace.table.sql.tokens import Token, tokenize
from headrace.table.sql.words import RESERVED

if TYPE_CHECKING:
    from headrace.table.sql.syntax.expressions import Expression
    from headrace.table.sql.syntax.queries import Query

T = TypeVar("T")

# Where one of these is not expected, something before it is missing; nobody means a column.
_CLAUSES = frozenset(
    (
        "AND AS BY END EXCEPT FROM GROUP HAVING INTERSECT INTO JOIN LIMIT ON OR ORDER SELECT SET THEN UNION WHEN WHERE WITH"
    ).split()
)


class Cursor:
    """Tokens and the position among them."""

    def __init__(self, text: str, tracing: bool = False) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.index = 0
        self.token: Token = self.tokens[0]
        self._tracing = tracing
        self._traced: dict[str, None] = {}

    # -- rules of later files that earlier ones call --------------------------------------------------------------

    if TYPE_CHECKING:

        def expression(self, power: int = 0) -> Expression:
            """See `expressions`."""

        def query(self) -> Query:
            """See `queries`."""

        def query_after(self, left: Query) -> Query:
            """See `queries`."""

        def starts_query(self) -> bool:
            """See `queries`."""

    # -- looking --------------------------------------------------------------------------------------------------

    def at(self, *keys: str) -> bool:
        """Return whether the next token is one of these words or operators."""
        if self.token.key in keys and self.token.kind != "quoted":
            return True
        if self._tracing:
            self._traced.update(dict.fromkeys(keys))
        return False

    def ahead(self, *keys: str) -> bool:
        """Return whether the next tokens are exactly these words and operators."""
        tokens, index = self.tokens, self.index
        for offset, key in enumerate(keys):
            if index + offset >= len(tokens) or tokens[index + offset].key != key:
                if self._tracing and offset == 0:
                    self._traced[key] = None
                return False
        return True

    def peek(self, offset: int = 1) -> Token:
        """Return a later token; after the last one, the end token."""
        return self.tokens[min(self.index + offset, len(self.tokens) - 1)]

    # -- moving ---------------------------------------------------------------------------------------------------

    def advance(self) -> Token:
        """Take the next token, whatever it is."""
        taken = self.token
        if taken.kind == "end":
            self.fail()
        self.index += 1
        self.token = self.tokens[self.index]
        if self._tracing:
            self._traced.clear()
        return taken

    def take(self, *keys: str) -> bool:
        """Take these words and operators if they come next, all of them or none."""
        if not self.ahead(*keys):
            return False
        for _ in keys:
            self.advance()
        return True

    def take_any(self, *keys: str) -> str | None:
        """Take the next token if it is one of these. Return it."""
        return self.advance().key if self.at(*keys) else None

    def need(self, *keys: str) -> int:
        """Take these words and operators in this order, or fail at the first missing one. Return where they begin."""
        position = self.token.position
        for key in keys:
            if not self.at(key):
                self.fail()
            self.advance()
        return position

    def need_any(self, *keys: str) -> str:
        """Take one of these, or fail."""
        taken = self.take_any(*keys)
        return taken if taken is not None else self.fail()

    # -- repetition -----------------------------------------------------------------------------------------------

    def separated(self, rule: Callable[[], T]) -> tuple[T, ...]:
        """One or more, with commas between them."""
        found = [rule()]
        while self.take(","):
            found.append(rule())
        return tuple(found)

    def parenthesized(self, rule: Callable[[], T]) -> tuple[T, ...]:
        """One or more in parentheses, with commas between them."""
        self.need("(")
        found = self.separated(rule)
        self.need(")")
        return found

    # -- failing --------------------------------------------------------------------------------------------------

    def wanted(self, description: str) -> NoReturn:
        """Fail because something other than a fixed word is missing."""
        if self._tracing:
            self._traced[description] = None
        self.fail()

    def fail(self, message: str | None = None, position: int | None = None) -> NoReturn:
        """Raise an error at the next token, or at the given position."""
        if message is None:
            shown = "end of the statement" if self.token.kind == "end" else repr(self.token.text)
            message = f"Unexpected {shown}{self._quoting_hint()}"
        where = self.token.position if position is None else position
        raise SqlParseError(message, self.text, where, tuple(self._traced))

    def _quoting_hint(self) -> str:
        """Return how to write a reserved word where a name or a column may be meant."""
        word = self.token.kind == "word" and self.token.key in RESERVED and self.token.key not in _CLAUSES
        if word and not {"an identifier", "an expression"}.isdisjoint(self._traced):
            return f" (a reserved word; to use it as a name, write `{self.token.text}`)"
        return ""
