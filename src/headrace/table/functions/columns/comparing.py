"""Column forms of comparisons, BETWEEN, IN and the tests for null and truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.table.functions.columns.datums import ColumnForm, arrow_type, compute, is_true, pyarrow
from headrace.table.functions.definition import Argument, CallSite
from headrace.table.functions.type_families import NESTED, Family, family
from headrace.table.functions.type_rules import same_type
from headrace.types.logical_types import DecimalType

_KERNELS = {"=": "equal", "<>": "not_equal", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"}
_UNCOMPARABLE = NESTED | {Family.RAW, Family.NULL}


def _comparable(arguments: tuple[Argument, ...]) -> bool:
    """Return whether pyarrow compares values of the arguments as rows do."""
    families = {family(each.type) for each in arguments}
    if families & _UNCOMPARABLE:
        return False
    if Family.DECIMAL in families:
        # pyarrow casts to a common type, which must not have too many digits.
        types = [each.type for each in arguments]
        decimals = [each for each in types if isinstance(each, DecimalType)]
        scale = max(each.scale for each in decimals)
        whole = max([each.precision - each.scale for each in decimals] + [19] * (len(types) - len(decimals)))
        return families <= {Family.DECIMAL, Family.INTEGER} and whole + scale <= 38
    return True


def comparison_columns(name: str) -> Callable[[CallSite], ColumnForm | None]:
    """Return what makes the column form of a comparison operator."""

    def columns(site: CallSite) -> ColumnForm | None:
        return getattr(compute(), _KERNELS[name]) if _comparable(site.arguments) else None

    return columns


def distinct_columns(negated: bool) -> Callable[[CallSite], ColumnForm | None]:
    """Return what makes the column form of IS DISTINCT FROM, or if `negated` of IS NOT DISTINCT FROM."""

    def columns(site: CallSite) -> ColumnForm | None:
        if not _comparable(site.arguments):
            return None
        pc = compute()

        def same(left: Any, right: Any) -> Any:
            equal = is_true(pc.equal(left, right))
            found = pc.or_(equal, pc.and_(pc.is_null(left), pc.is_null(right)))
            return found if negated else pc.invert(found)

        return same

    return columns


def between_columns(negated: bool, symmetric: bool) -> Callable[[CallSite], ColumnForm | None]:
    """Return what makes the column form of [NOT] BETWEEN [SYMMETRIC]."""

    def columns(site: CallSite) -> ColumnForm | None:
        if not _comparable(site.arguments):
            return None
        pc = compute()

        def within(value: Any, low: Any, high: Any) -> Any:
            return pc.and_kleene(pc.greater_equal(value, low), pc.less_equal(value, high))

        def between(value: Any, low: Any, high: Any) -> Any:
            found = within(value, low, high)
            if symmetric:
                found = pc.or_kleene(found, within(value, high, low))
            return pc.invert(found) if negated else found

        return between

    return columns


def in_columns(negated: bool) -> Callable[[CallSite], ColumnForm | None]:
    """Return what makes the column form of [NOT] IN a list of constants."""

    def columns(site: CallSite) -> ColumnForm | None:
        candidates = site.arguments[1:]
        if not all(each.constant for each in candidates) or not _comparable(site.arguments):
            return None
        if family(site.arguments[0].type) is Family.APPROXIMATE:
            return None  # pyarrow finds NaN in a list that has it
        if not all(same_type(each.type, site.arguments[0].type) for each in candidates):
            return None
        pc, pa = compute(), pyarrow()
        kind = arrow_type(site.arguments[0].type)
        values = pa.array([each.value for each in candidates if each.value is not None], kind)
        unknown = any(each.value is None for each in candidates)

        def contained(value: Any, *_: Any) -> Any:
            found = pc.is_in(value, value_set=values)
            if unknown:
                found = pc.if_else(found, True, pa.scalar(None, pa.bool_()))
            found = pc.if_else(pc.is_valid(value), found, pa.scalar(None, pa.bool_()))
            return pc.invert(found) if negated else found

        return contained

    return columns


def null_columns(negated: bool) -> Callable[[CallSite], ColumnForm | None]:
    """Return what makes the column form of IS [NOT] NULL."""
    return lambda site: compute().is_valid if negated else compute().is_null


def truth_columns(expected: bool, negated: bool) -> Callable[[CallSite], ColumnForm | None]:
    """Return what makes the column form of IS [NOT] TRUE or IS [NOT] FALSE."""

    def columns(site: CallSite) -> ColumnForm | None:
        pc = compute()

        def test(value: Any) -> Any:
            found = is_true(value if expected else pc.invert(value))
            return pc.invert(found) if negated else found

        return test

    return columns
