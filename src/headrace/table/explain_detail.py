"""ExplainDetail: what an explanation shows besides the plan."""

from __future__ import annotations

__all__ = ["ExplainDetail"]


class ExplainDetail:
    """What an explanation shows besides the plan.

    >>> ExplainDetail.CHANGELOG_MODE
    1
    """

    ESTIMATED_COST = 0
    """The estimated cost of each operator."""
    CHANGELOG_MODE = 1
    """The kinds of changes on each edge."""
    JSON_EXECUTION_PLAN = 2
    """The job as JSON."""
    PLAN_ADVICE = 3
    """Advice on the plan, such as state that grows without bound."""


NAMES = {"ESTIMATED_COST": 0, "CHANGELOG_MODE": 1, "JSON_EXECUTION_PLAN": 2, "PLAN_ADVICE": 3}
"""The words of `EXPLAIN ESTIMATED_COST, ... statement`."""
