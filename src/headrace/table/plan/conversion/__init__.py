"""Logical relations become physical nodes: which operator runs each of them."""

from __future__ import annotations

from headrace.table.plan.conversion.converter import converted

__all__ = ["converted"]
