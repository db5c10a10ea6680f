"""MATCH_RECOGNIZE."""

from __future__ import annotations

from headrace.table.analysis.context import Context
from headrace.table.analysis.errors import unsupported
from headrace.table.analysis.joins import Source
from headrace.table.plan.relations import Relation
from headrace.table.sql.syntax import queries


def match(context: Context, node: queries.MatchRecognize, source: Source) -> Relation:
    """Return the matches of a pattern."""
    raise unsupported("MATCH_RECOGNIZE is not supported", node.position)
