"""Resolved expressions as running code: one function over rows, one over columns."""
