"""Resolved expressions made into running code: Python source for rows, pyarrow calls for columns."""

from headrace.table.programs.compiled import row_function
from headrace.table.programs.expanding import is_deterministic
from headrace.table.programs.folding import evaluate, fold
from headrace.table.programs.program import Predicate, Program, Scalar

__all__ = ["Predicate", "Program", "Scalar", "evaluate", "fold", "is_deterministic", "row_function"]
