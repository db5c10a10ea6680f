"""The texts of expressions and queries inside a statement, for SHOW CREATE, DESCRIBE and views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headrace.table.analysis.catalog_view import ResolvedSchema
from headrace.table.sql.syntax.tables import ComputedColumn, Element, Watermark
from headrace.table.sql.tokens import tokenize


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
    columns = {
        each.name[-1]: expression_text(text, each.position) for each in elements if isinstance(each, ComputedColumn)
    }
    marks = [expression_text(text, each.position) for each in elements if isinstance(each, Watermark)]
    watermark = schema.watermark
    if watermark is not None and marks:
        watermark = replace(watermark, text=marks[0])
    named = tuple(replace(each, text=columns.get(each.name, each.text)) for each in schema.columns)
    return replace(schema, columns=named, watermark=watermark)
