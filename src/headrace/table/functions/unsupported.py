"""Functions of Flink over types that do not exist here: VARIANT, BITMAP and structured types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from headrace.table.errors import SqlNotSupportedError
from headrace.table.functions.definition import Argument, CallSite, ScalarFunction

_REASONS = {
    "the type VARIANT": ("PARSE_JSON", "TRY_PARSE_JSON"),
    "structured types": ("OBJECT_OF", "OBJECT_UPDATE"),
    "the type BITMAP": (
        "BITMAP_AND",
        "BITMAP_ANDNOT",
        "BITMAP_BUILD",
        "BITMAP_CARDINALITY",
        "BITMAP_FROM_BYTES",
        "BITMAP_OR",
        "BITMAP_TO_ARRAY",
        "BITMAP_TO_BYTES",
        "BITMAP_TO_STRING",
        "BITMAP_XOR",
    ),
}


def _refusal(name: str, reason: str) -> Callable[[Sequence[Argument]], NoReturn]:
    def infer(arguments: Sequence[Argument]) -> NoReturn:
        raise SqlNotSupportedError(f"The function {name} needs {reason}, which is not supported")

    return infer


def _no_rows(site: CallSite) -> Callable[..., Any]:
    raise AssertionError("inference refuses the call")


FUNCTIONS: tuple[ScalarFunction, ...] = tuple(
    ScalarFunction(name, _refusal(name, reason), _no_rows) for reason, names in _REASONS.items() for name in names
)
