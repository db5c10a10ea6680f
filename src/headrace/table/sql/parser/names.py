"""Identifiers, strings and other small words that many rules need."""

from __future__ import annotations

from headrace.table.sql.parser.cursor import Cursor
from headrace.table.sql.syntax.node import Name
from headrace.table.sql.tokens import Token
from headrace.table.sql.words import RESERVED

_LONGEST = 256


class Names(Cursor):
    """Rules for identifiers, names of objects, plain strings and numbers."""

    def is_identifier(self, token: Token | None = None) -> bool:
        """Return whether a token can be an identifier: quoted, or a word that is not reserved."""
        token = self.token if token is None else token
        return token.kind == "quoted" or (token.kind == "word" and token.key not in RESERVED)

    def identifier(self) -> str:
        """A single identifier."""
        if not self.is_identifier():
            self.wanted("an identifier")
        position = self.token.position
        taken = self.advance()
        name = taken.text[1:-1].replace("``", "`") if taken.kind == "quoted" else taken.text
        if len(name) > _LONGEST:
            self.fail(f"The identifier is longer than {_LONGEST} characters", position)
        return name

    def name(self) -> Name:
        """An identifier with its qualifiers."""
        names = [self.identifier()]
        while self.token.key == "." and self.is_identifier(self.peek()):
            self.advance()
            names.append(self.identifier())
        if self.token.key == ".":
            self.advance()
            self.wanted("an identifier")
        return tuple(names)

    def string(self) -> str:
        """A plain string."""
        if self.token.kind != "string":
            self.wanted("a string")
        return self.advance().text[1:-1].replace("''", "'")

    def strings(self) -> str:
        """A plain string, concatenated with adjacent ones."""
        text = self.string()
        while self.token.kind == "string":
            text += self.string()
        return text

    def integer(self) -> int:
        """An integer without a sign."""
        if self.token.kind != "integer":
            self.wanted("an integer")
        return int(self.advance().text)

    def identifiers(self) -> tuple[str, ...]:
        """Identifiers in parentheses."""
        return self.parenthesized(self.identifier)

    def if_exists(self) -> bool:
        """`IF EXISTS`, if it is there."""
        return self.take("IF", "EXISTS")

    def if_not_exists(self) -> bool:
        """`IF NOT EXISTS`, if it is there."""
        return self.take("IF", "NOT", "EXISTS")
