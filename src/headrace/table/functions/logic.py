"""Three-valued logic: AND, OR, NOT, and the tests IS [NOT] NULL, TRUE, FALSE, UNKNOWN.

Programs evaluate AND and OR lazily; the functions here define the result for values that are already computed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from headrace.table.functions.columns.comparing import null_columns, truth_columns
from headrace.table.functions.columns.datums import ColumnForm, compute
from headrace.table.functions.definition import Argument, CallSite, Inline, ScalarFunction, Signature
from headrace.table.functions.inference import UNBOUNDED, expect_count, expect_family, strict
from headrace.table.functions.type_families import Family
from headrace.table.functions.type_rules import with_nullability
from headrace.types.logical_types import BooleanType


def _infer_logic(arguments: Sequence[Argument]) -> Signature:
    expect_count(arguments, 2, UNBOUNDED)
    for place, each in enumerate(arguments, 1):
        expect_family(each, {Family.BOOLEAN}, place)
    return strict(arguments, [BooleanType()] * len(arguments), BooleanType())


def _infer_not(arguments: Sequence[Argument]) -> Signature:
    expect_count(arguments, 1)
    expect_family(arguments[0], {Family.BOOLEAN})
    return strict(arguments, [BooleanType()], BooleanType())


def every(*values: bool | None) -> bool | None:
    """Return the AND of values.

    >>> every(True, None), every(None, False), every(True, True)
    (None, False, True)
    """
    if False in values:
        return False
    return None if None in values else True


def some(*values: bool | None) -> bool | None:
    """Return the OR of values.

    >>> some(False, None), some(None, True), some(False, False)
    (None, True, False)
    """
    if True in values:
        return True
    return None if None in values else False


def _infer_null_test(arguments: Sequence[Argument]) -> Signature:
    expect_count(arguments, 1)
    return Signature((arguments[0].type,), BooleanType().not_null())


def _infer_truth_test(arguments: Sequence[Argument]) -> Signature:
    expect_count(arguments, 1)
    expect_family(arguments[0], {Family.BOOLEAN})
    return Signature((with_nullability(BooleanType(), arguments[0].type.is_nullable),), BooleanType().not_null())


def _null_test(name: str, source: str, test: Callable[[Any], bool]) -> ScalarFunction:
    return ScalarFunction(
        name,
        _infer_null_test,
        rows=lambda site: test,
        inline=lambda site: Inline(f"{{0}} {source}"),
        columns=null_columns(negated=" not " in source),
        strict=False,
    )


def _truth_test(name: str, source: str, test: Callable[[Any], bool]) -> ScalarFunction:
    return ScalarFunction(
        name,
        _infer_truth_test,
        rows=lambda site: test,
        inline=lambda site: Inline(f"{{0}} {source}"),
        columns=truth_columns("True" in source, negated=" not " in source),
        strict=False,
    )


def _columns(kernel: str) -> Callable[[CallSite], ColumnForm | None]:
    def columns(site: CallSite) -> ColumnForm | None:
        combine = getattr(compute(), kernel)
        return lambda *values: reduce(combine, values)

    return columns


FUNCTIONS = (
    ScalarFunction("AND", _infer_logic, rows=lambda site: every, columns=_columns("and_kleene"), strict=False),
    ScalarFunction("OR", _infer_logic, rows=lambda site: some, columns=_columns("or_kleene"), strict=False),
    ScalarFunction(
        "NOT",
        _infer_not,
        rows=lambda site: operator.not_,
        inline=lambda site: Inline("not {0}"),
        columns=lambda site: compute().invert,
    ),
    _null_test("IS NULL", "is None", lambda value: value is None),
    _null_test("IS NOT NULL", "is not None", lambda value: value is not None),
    _truth_test("IS TRUE", "is True", lambda value: value is True),
    _truth_test("IS NOT TRUE", "is not True", lambda value: value is not True),
    _truth_test("IS FALSE", "is False", lambda value: value is False),
    _truth_test("IS NOT FALSE", "is not False", lambda value: value is not False),
    _null_test("IS UNKNOWN", "is None", lambda value: value is None),
    _null_test("IS NOT UNKNOWN", "is not None", lambda value: value is not None),
)
