"""Calls that are written as Python's own conditionals, because they must not evaluate all of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from headrace.table.plan.rex import Call, Rex

if TYPE_CHECKING:
    from headrace.table.programs.row_code import RowCode

LAZY = frozenset({"AND", "OR", "CASE", "IF", "COALESCE", "IFNULL"})
"""Functions whose arguments must not be evaluated before it is known that they are needed."""


def flattened(code: RowCode, call: Call) -> list[Rex]:
    """Return the operands of nested calls of AND (or OR) in one list."""
    operands: list[Rex] = []
    for each in call.arguments:
        if isinstance(each, Call) and each.function.name == call.function.name and not code.shared(each):
            operands += flattened(code, each)
        else:
            operands.append(each)
    return operands


def _logic(stops: str, otherwise: str) -> Callable[[RowCode, Call], str]:
    def form(code: RowCode, call: Call) -> str:
        first, *rest = flattened(code, call)
        if not call.type.is_nullable:
            sources = [code.value(first)]
            with code.branch():
                sources += [code.value(each) for each in rest]
            return (" and " if stops == "False" else " or ").join(sources)
        computed = [code.named(first)]
        with code.branch():
            computed += [code.named(each) for each in rest]
        decisive = " or ".join(f"{source} is {stops}" for source, _ in computed)
        unknown = " or ".join(f"{name} is None" for _, name in computed)
        return f"{stops} if {decisive} else None if {unknown} else {otherwise}"

    return form


def _case(code: RowCode, call: Call) -> str:
    *pairs, otherwise = call.arguments
    parts = []
    condition = code.test(pairs[0])  # always evaluated
    with code.branch():
        for place in range(0, len(pairs), 2):
            if place:
                condition = code.test(pairs[place])
            with code.branch():
                parts.append(f"{code.value(pairs[place + 1])} if {condition} else ")
        last = code.value(otherwise)
    return "".join(parts) + last


def _coalesce(code: RowCode, call: Call) -> str:
    first, *rest = call.arguments
    if not first.type.is_nullable or not rest:
        return code.value(first)
    source, name = code.named(first)
    parts = [f"{name} if {source} is not None else "]
    with code.branch():
        for each in rest[:-1]:
            if not each.type.is_nullable:
                return "".join(parts) + code.value(each)
            source, name = code.named(each)
            parts.append(f"{name} if {source} is not None else ")
        return "".join(parts) + code.value(rest[-1])


def _null_if(code: RowCode, call: Call) -> str:
    source, name = code.named(call.arguments[0])
    return f"None if {source} == {code.value(call.arguments[1])} else {name}"


def _logic_test(word: str) -> Callable[[RowCode, Call], str]:
    def test(code: RowCode, call: Call) -> str:
        first, *rest = flattened(code, call)
        tests = [code.test(first)]
        with code.branch():
            tests += [code.test(each) for each in rest]
        return f" {word} ".join(tests)

    return test


def _not_test(code: RowCode, call: Call) -> str:
    (operand,) = call.arguments
    if operand.type.is_nullable:
        return f"{code.value(operand)} is False"
    return f"not {code.test(operand)}"


def _is_true_test(code: RowCode, call: Call) -> str:
    return code.test(call.arguments[0])


FORMS: dict[str, Callable[[RowCode, Call], str]] = {
    "AND": _logic("False", "True"),
    "OR": _logic("True", "False"),
    "CASE": _case,
    "IF": _case,
    "COALESCE": _coalesce,
    "IFNULL": _coalesce,
    "NULLIF": _null_if,
}
"""Source of the value, by the function's name."""
TESTS: dict[str, Callable[[RowCode, Call], str]] = {
    "AND": _logic_test("and"),
    "OR": _logic_test("or"),
    "NOT": _not_test,
    "IS TRUE": _is_true_test,
}
"""Source that is true for Python exactly if the call is TRUE, by the function's name."""
