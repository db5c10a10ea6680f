"""SqlDialect: which SQL an environment parses."""

from __future__ import annotations

__all__ = ["SqlDialect"]


class SqlDialect:
    """Which SQL an environment parses. There is only Flink's own.

    >>> SqlDialect.DEFAULT
    0
    """

    DEFAULT = 0
    """Flink SQL."""
    HIVE = 1
    """Hive's SQL, which is not available."""
