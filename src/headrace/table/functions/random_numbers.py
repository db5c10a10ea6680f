"""RAND and RAND_INTEGER. With a seed, the numbers are those of Java's generator."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from headrace.table.errors import SqlRuntimeError
from headrace.table.functions.definition import Argument, CallSite, ScalarFunction, Signature
from headrace.table.functions.inference import expect_count, expect_family, strict
from headrace.table.functions.type_families import Family
from headrace.types.logical_types import DoubleType, IntType

_MULTIPLIER, _INCREMENT, _MASK = 0x5DEECE66D, 0xB, (1 << 48) - 1


class JavaRandom:
    """The linear congruential generator of `java.util.Random`.

    >>> JavaRandom(42).next_double(), JavaRandom(42).next_integer(10)
    (0.7275636800328681, 0)
    """

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _MULTIPLIER) & _MASK

    def _bits(self, count: int) -> int:
        self._state = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        return self._state >> (48 - count)

    def next_double(self) -> float:
        """Return a number from 0 to below 1."""
        return ((self._bits(26) << 27) + self._bits(27)) / (1 << 53)

    def next_integer(self, bound: int) -> int:
        """Return an integer from 0 to below a bound."""
        if bound <= 0:
            raise SqlRuntimeError(
                f"RAND_INTEGER needs a positive bound, got {bound}", remedy="pass a bound of at least 1"
            )
        if bound & (bound - 1) == 0:
            return bound * self._bits(31) >> 31
        while True:
            bits = self._bits(31)
            value = bits % bound
            if bits - value + bound - 1 < 1 << 31:  # otherwise small values would be more likely
                return value


def _infer(integers: int, result: Any) -> Callable[[Sequence[Argument]], Signature]:
    def infer(arguments: Sequence[Argument]) -> Signature:
        expect_count(arguments, integers, integers + 1)
        for place, each in enumerate(arguments, 1):
            expect_family(each, {Family.INTEGER}, place)
        return strict(arguments, [IntType()] * len(arguments), result)

    return infer


def _generator(site: CallSite, seeded: bool) -> Callable[[int], JavaRandom]:
    """Return the function from the seed to the generator: one for the whole query if the seed is a constant or absent."""
    if seeded and not site.arguments[0].constant:
        return JavaRandom
    seed = site.arguments[0].value if seeded else random.getrandbits(48)
    generator = JavaRandom(seed or 0)
    return lambda _: generator


def _rand(site: CallSite) -> Callable[..., float]:
    generator = _generator(site, bool(site.arguments))
    return lambda seed=0: generator(seed).next_double()


def _rand_integer(site: CallSite) -> Callable[..., int]:
    seeded = len(site.arguments) == 2
    generator = _generator(site, seeded)
    if seeded:
        return lambda seed, bound: generator(seed).next_integer(bound)
    return lambda bound: generator(0).next_integer(bound)


FUNCTIONS = (
    ScalarFunction("RAND", _infer(0, DoubleType()), rows=_rand, deterministic=False),
    ScalarFunction("RAND_INTEGER", _infer(1, IntType()), rows=_rand_integer, deterministic=False),
)
