"""Column forms of arithmetic on numbers and times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.table.functions.columns.datums import ColumnForm, any_true, arrow_type, compute, numpy, pyarrow
from headrace.table.functions.decimals import MAX_PRECISION
from headrace.table.functions.definition import CallSite
from headrace.table.functions.numbers import division_by_zero
from headrace.table.functions.type_families import INTERVAL, TIMESTAMPS, Family, family
from headrace.types.logical_types import DecimalType

_KERNELS = {"+": "add", "-": "subtract", "*": "multiply"}


def arithmetic_columns(name: str) -> Callable[[CallSite], ColumnForm | None]:
    """Return what makes the column form of an arithmetic operator."""

    def columns(site: CallSite) -> ColumnForm | None:
        if len(site.arguments) == 1:
            return _sign_columns(name, site)
        result = family(site.result)
        kinds = {family(each.type) for each in site.arguments}
        if kinds & (TIMESTAMPS | INTERVAL | {Family.DATE, Family.TIME}):
            return _temporal_columns(name, site)
        if result is Family.DECIMAL:
            return _decimal_columns(name, site)
        if name in _KERNELS:
            return getattr(compute(), _KERNELS[name])  # type: ignore[no-any-return]
        if result is Family.INTEGER:
            return _quotient(site) if name == "/" else _remainder(site)
        return compute().divide if name == "/" else _double_remainder

    return columns


def _sign_columns(name: str, site: CallSite) -> ColumnForm | None:
    if name == "+":
        return lambda value: value
    return compute().negate if family(site.result) in {Family.INTEGER, Family.APPROXIMATE} | INTERVAL else None


def _decimal_columns(name: str, site: CallSite) -> ColumnForm | None:
    left, right = (each.type for each in site.arguments)
    if name not in _KERNELS or not isinstance(left, DecimalType) or not isinstance(right, DecimalType):
        return None
    if name == "*":
        precision = left.precision + right.precision + 1
    else:
        whole = max(left.precision - left.scale, right.precision - right.scale)
        precision = whole + max(left.scale, right.scale) + 1
    # Within the limit, pyarrow derives the same precision and scale as SQL, and nothing is rounded.
    return getattr(compute(), _KERNELS[name]) if precision <= MAX_PRECISION else None


def _check_divisor(left: Any, right: Any) -> None:
    pc = compute()
    if any_true(pc.and_(pc.equal(right, 0), pc.is_valid(left))):
        raise division_by_zero()


def _quotient(site: CallSite) -> ColumnForm:
    pc, pa = compute(), pyarrow()
    kind = arrow_type(site.arguments[0].type)
    one, minus_one = pa.scalar(1, kind), pa.scalar(-1, kind)
    divisor = site.arguments[1]
    if divisor.constant and divisor.value not in (None, 0, -1):
        return pc.divide  # type: ignore[no-any-return]

    def quotient(left: Any, right: Any) -> Any:
        _check_divisor(left, right)
        # pyarrow does not wrap the lowest integer divided by -1 around, and fails for a null divided by zero.
        inverted = pc.equal(right, minus_one)
        unusable = pc.or_(inverted, pc.equal(right, pa.scalar(0, kind)))
        divided = pc.divide(left, pc.if_else(unusable, one, right))
        return pc.if_else(inverted, pc.negate(left), divided)

    return quotient


def _remainder(site: CallSite) -> ColumnForm:
    pc = compute()
    quotient = _quotient(site)
    kind = arrow_type(site.result)

    def remainder(left: Any, right: Any) -> Any:
        found = pc.subtract(left, pc.multiply(quotient(left, right), right))
        return found.cast(kind, safe=False)

    return remainder


def _double_remainder(left: Any, right: Any) -> Any:
    pc, pa, np = compute(), pyarrow(), numpy()
    with np.errstate(all="ignore"):
        values = np.fmod(*(_filled(each) for each in (left, right)))
    null = pc.or_(pc.is_null(left), pc.is_null(right))
    return pa.array(values, left.type, mask=null.to_numpy(zero_copy_only=False))


def _filled(datum: Any) -> Any:
    if hasattr(datum, "null_count"):
        return compute().fill_null(datum, 0.0).to_numpy(zero_copy_only=False)
    return 0.0 if datum.as_py() is None else datum.as_py()


def _temporal_columns(name: str, site: CallSite) -> ColumnForm | None:
    pc, pa = compute(), pyarrow()
    left, right = (family(each.type) for each in site.arguments)
    thousand = pa.scalar(1000, pa.int64())
    if left in TIMESTAMPS and right is Family.DURATION:
        move = pc.add if name == "+" else pc.subtract
        return lambda moment, duration: move(moment, pc.multiply(duration, thousand))
    if left is Family.DURATION and right in TIMESTAMPS:
        return lambda duration, moment: pc.add(pc.multiply(duration, thousand), moment)
    if left is right and left in INTERVAL and name in _KERNELS:
        return getattr(pc, _KERNELS[name])  # type: ignore[no-any-return]
    return None
