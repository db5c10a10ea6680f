"""Source of `RowCode` made into functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.table.functions.definition import Session
from headrace.table.plan.rex import Rex
from headrace.table.programs.row_code import RowCode


def row_function(rex: Rex, session: Session) -> Callable[[tuple[Any, ...]], Any]:
    """Return the function that computes an expression for a row."""
    code = RowCode(session, lambda index: f"r[{index}]", "r")
    code.count(rex)
    return executed(code, ["def run(r):", f"    return {code.value(rex)}"])


def executed(code: RowCode, lines: list[str]) -> Callable[..., Any]:
    """Return the function `run` of source lines that use what `code` has written."""
    source = "".join(code.helpers) + "\n".join(lines) + "\n"
    namespace = dict(code.namespace)
    exec(compile(source, "<program>", "exec"), namespace)  # noqa: S102 - the source is made from resolved expressions
    made: Callable[..., Any] = namespace["run"]
    return made
