"""The texts of expressions and queries inside a statement, for SHOW CREATE, DESCRIBE and views."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from headrace.table.analysis.catalog_view import ResolvedSchema
from headrace.table.catalogs.quoting import identifier
from headrace.table.sql import parse_statements
from headrace.table.sql.errors import SqlParseError
from headrace.table.sql.syntax.statements import CreateTable
from headrace.table.sql.syntax.tables import ComputedColumn, Element, Watermark
from headrace.table.sql.tokens import tokenize
from headrace.table.sql.words import RESERVED


def expression_text(text: str, position: int) -> str:
    """Return the expression after the first AS at or after a position, up to the end of the element.

    >>> expression_text("CREATE TABLE t (a INT, b AS f(a, 1) COMMENT 'x', c INT)", 23)
    'f(a, 1)'
    """
    depth, start, end = 0, -1, len(text)
    for token in tokenize(text[position:]):
        at = position + token.position
        if start == -1 and token.key == "AS" and depth == 0:
            start = at + len(token.text)
        elif depth == 0 and start != -1 and (token.key in (",", ")", ";", "COMMENT", "FIRST", "AFTER")):
            end = at
            break
        elif token.key in ("(", "["):
            depth += 1
        elif token.key in (")", "]"):
            depth -= 1
    return text[start:end].strip()


def quoted_names(text: str) -> str:
    """Return an expression with its columns in backquotes, as Flink stores it.

    >>> quoted_names("ts - INTERVAL '5' SECOND + f(a.b)")
    "`ts` - INTERVAL '5' SECOND + f(`a`.`b`)"
    """
    tokens = tokenize(text)
    parts, after = [], 0
    for token, following in itertools.pairwise(tokens):
        parts.append(text[after : token.position])
        after = token.position + len(token.text)
        plain = token.kind == "word" and token.key not in RESERVED and following.key != "("
        parts.append(identifier(token.text) if plain else token.text)
    return "".join([*parts, text[after:]])


def query_text(text: str, position: int) -> str:
    """Return the query of a view: everything after the first AS that follows a position outside of parentheses.

    >>> query_text("CREATE VIEW v (a) AS SELECT 1 AS x;", 0)
    'SELECT 1 AS x'
    """
    depth = 0
    for token in tokenize(text[position:]):
        if token.key == "AS" and depth == 0:
            found = text[position + token.position + 2 :].strip()
            return found.removesuffix(";").rstrip()
        depth += (token.key == "(") - (token.key == ")")
    return text


def with_texts(schema: ResolvedSchema, elements: Sequence[Element], text: str | None) -> ResolvedSchema:
    """Return the schema with the texts of the computed columns and the watermark that `elements` declare."""
    if text is None:
        return schema
    columns = {each.name[-1]: _stored(each, text) for each in elements if isinstance(each, ComputedColumn)}
    marks = [_stored(each, text) for each in elements if isinstance(each, Watermark)]
    watermark = schema.watermark
    if watermark is not None and marks:
        watermark = replace(watermark, text=marks[0])
    named = tuple(replace(each, text=columns.get(each.name, each.text)) for each in schema.columns)
    return replace(schema, columns=named, watermark=watermark)


def _stored(element: ComputedColumn | Watermark, text: str) -> str:
    """Return the text of an expression, with quoted names where that does not change its meaning."""
    found = expression_text(text, element.position)
    quoted = quoted_names(found)
    try:
        (made,) = parse_statements(f"CREATE TABLE t (c AS {quoted})")
    except SqlParseError:
        return found
    same = isinstance(made, CreateTable) and getattr(made.elements[0], "expression", None) == element.expression
    return quoted if same else found
