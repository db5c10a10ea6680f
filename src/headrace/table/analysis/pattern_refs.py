"""Expressions over the rows of a match of MATCH_RECOGNIZE.

Rows that are mapped to a pattern variable are those of the match so far. While a row is tested for variable A, it is the
last row of A. The variable `*` stands for all rows of the match, and the name of a SUBSET for the rows of its variables.
"""

from __future__ import annotations

from dataclasses import dataclass

from headrace.table.functions.definition import AggregateFunction
from headrace.table.plan.rex import Rex

ALL_ROWS = "*"
"""The variable of a column without qualifier."""


@dataclass(frozen=True)
class PatternRef(Rex):
    """A column of a row that is mapped to a variable: the last one, or the first one; null if there is none.

    `offset` counts rows from there towards the middle: `LAST(A.x, 1)` is the value of the row of A before the last.
    """

    variable: str
    index: int
    first: bool = False
    offset: int = 0


@dataclass(frozen=True)
class PatternAggregate(Rex):
    """An aggregate of all rows that are mapped to a variable. Arguments are expressions over one row (InputRef)."""

    variable: str
    function: AggregateFunction
    arguments: tuple[Rex, ...] = ()
    distinct: bool = False
