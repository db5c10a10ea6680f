"""Split a string into the tokens of Flink SQL.

Knows only the lexical rules: backticks quote identifiers, double quotes have no meaning, `--`, `//` and `/* */` are
comments, `/*+` begins a hint. Called by the parser, once for each script.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from headrace.table.sql.errors import SqlParseError

Kind = Literal["word", "quoted", "integer", "decimal", "double", "string", "prefixed", "operator", "end"]


class Token(NamedTuple):
    """A token. Rules compare with `key`: the word in upper case, or the operator."""

    kind: Kind
    key: str
    text: str
    position: int


_TOKEN = re.compile(
    r"""
    (?P<space>\s+|--[^\r\n]*|//[^\r\n]*|/\*(?!\+).*?\*/)
  | (?P<prefixed>(?:[uU]&|[xX]|[nN]|[eE]|_[\w.:-]+?)'(?:[^']|'')*')
  | (?P<double>(?:\d+\.?\d*|\.\d+)[eE][+-]?\d+)
  | (?P<decimal>\d+\.\d*|\.\d+)
  | (?P<integer>\d+)
  | (?P<word>[^\W\d][\w$]*|\$[\w$]+)
  | (?P<quoted>`(?:[^`]|``)+`)
  | (?P<string>'(?:[^']|'')*')
  | (?P<operator>/\*\+|/(?!\*)|\*/|<>|!=|<=|>=|\|\||=>|\{-|-\}|[-+*%()\[\]{},.;:=<>?|^$])
    """,
    re.VERBOSE | re.DOTALL,
)


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a string; the last one marks its end.

    >>> [token.key for token in tokenize("select `a b` -- all of it")]
    ['SELECT', '', '']
    """
    tokens: list[Token] = []
    position, length = 0, len(text)
    match_at = _TOKEN.match
    while position < length:
        found = match_at(text, position)
        if found is None:
            raise SqlParseError(_problem(text, position), text, position)
        kind = found.lastgroup
        if kind != "space":
            piece = found.group()
            key = piece.upper() if kind == "word" else piece if kind == "operator" else ""
            tokens.append(Token(kind, key, piece, position))  # type: ignore[arg-type]
        position = found.end()
    tokens.append(Token("end", "", "", length))
    return tokens


def _problem(text: str, position: int) -> str:
    if text.startswith("/*", position):
        return "Unterminated comment"
    if text[position] == "'":
        return "Unterminated string"
    if text[position] == "`":
        return "Unterminated or empty quoted identifier"
    if text[position] == '"':
        return "Unexpected double quote (quote identifiers with backticks, strings with single quotes)"
    return f"Unexpected character {text[position]!r}"
