"""LISTAGG: the values of a group, joined by a separator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace.table.functions.definition import (
    Accumulation,
    AggregateFunction,
    Argument,
    ArgumentError,
    CallSite,
    Signature,
)
from headrace.types.logical_types import CharType, NullType, VarCharType


class ListAggregate(Accumulation):
    """[separator, values that are not null, in order]. A retraction removes the earliest equal value."""

    def create(self) -> list[Any]:
        return [",", []]

    def add(self, accumulator: list[Any], *arguments: Any) -> list[Any]:
        if len(arguments) > 1 and arguments[1] is not None:
            accumulator[0] = arguments[1]
        if arguments[0] is not None:
            accumulator[1].append(arguments[0])
        return accumulator

    def retract(self, accumulator: list[Any], *arguments: Any) -> list[Any]:
        if arguments[0] in accumulator[1]:
            accumulator[1].remove(arguments[0])
        return accumulator

    def merge(self, accumulator: list[Any], other: list[Any]) -> list[Any]:
        accumulator[0] = other[0]
        accumulator[1].extend(other[1])
        return accumulator

    def result(self, accumulator: list[Any]) -> Any:
        separator, values = accumulator
        return separator.join(values) if values else None


def _infer(arguments: Sequence[Argument]) -> Signature:
    if len(arguments) not in (1, 2):
        raise ArgumentError("LISTAGG takes a string and optionally a separator")
    if not all(isinstance(argument.type, (CharType, VarCharType, NullType)) for argument in arguments):
        raise ArgumentError("LISTAGG takes strings")
    return Signature(tuple(argument.type for argument in arguments), VarCharType())


def _rows(site: CallSite) -> Accumulation:
    return ListAggregate()


FUNCTIONS = (AggregateFunction("LISTAGG", _infer, _rows),)
