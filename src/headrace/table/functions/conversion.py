"""CAST, TRY_CAST and TYPEOF. The target of a cast is the result type of the call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from headrace.table.functions.casts import can_cast, value_cast
from headrace.table.functions.casts.failures import CastError
from headrace.table.functions.columns.casting import cast_columns
from headrace.table.functions.definition import Argument, ArgumentError, CallSite, Inline, ScalarFunction, Signature
from headrace.table.functions.inference import expect_count
from headrace.table.functions.type_families import Family, family, integer_bits
from headrace.table.functions.type_rules import with_nullability
from headrace.table.functions.type_text import sql_text
from headrace.types.logical_types import DataType, VarCharType

__all__ = ["ALIASES", "FUNCTIONS", "can_cast", "cast_result"]


def cast_result(source: DataType, target: DataType, *, safe: bool = False) -> DataType:
    """Return the type of a cast, with nullability; raise ArgumentError if there is no such cast. `safe` is for TRY_CAST.

    >>> from headrace.types.logical_types import IntType
    >>> cast_result(VarCharType().not_null(), IntType())
    IntType(false)
    """
    if not can_cast(source, target):
        raise ArgumentError(f"cannot cast {sql_text(source)} to {sql_text(target)}")
    return with_nullability(target, safe or source.is_nullable)


def _infer_cast(arguments: Sequence[Argument]) -> Signature:
    raise ArgumentError("the type of a cast is that of its target: use cast_result")


def _cast(site: CallSite) -> Callable[..., Any]:
    return value_cast(site.arguments[0].type, site.result, site.session.time_zone)


def _try_cast(site: CallSite) -> Callable[..., Any]:
    cast = _cast(site)

    def attempt(value: Any) -> Any:
        try:
            return cast(value)
        except CastError:
            return None

    return attempt


def _inline_cast(site: CallSite) -> Inline | None:
    source, target = site.arguments[0].type, site.result
    if family(source) is Family.INTEGER and family(target) is Family.INTEGER:
        return Inline("{0}") if (integer_bits(source) or 0) <= (integer_bits(target) or 0) else None
    if family(source) is family(target) and family(source) in (Family.MONTHS, Family.DURATION):
        return Inline("{0}")
    return None


def _infer_type_of(arguments: Sequence[Argument]) -> Signature:
    expect_count(arguments, 1, 2)
    return Signature(tuple(each.type for each in arguments), VarCharType())


def _type_of(site: CallSite) -> Callable[..., Any]:
    text = sql_text(site.arguments[0].type)
    return lambda *_: text


FUNCTIONS = (
    ScalarFunction("CAST", _infer_cast, rows=_cast, columns=cast_columns, inline=_inline_cast),
    ScalarFunction("TRY_CAST", _infer_cast, rows=_try_cast),
    ScalarFunction("TYPEOF", _infer_type_of, rows=_type_of, strict=False),
)
ALIASES = {"SAFE_CAST": "TRY_CAST"}
