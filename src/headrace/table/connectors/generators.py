"""Generators of the values of one column of `datagen`: sequences, and random values of all types."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from random import Random
from typing import Any

from headrace.table.connectors.options import Options
from headrace.table.conversion import single
from headrace.table.errors import SqlNotSupportedError, SqlValidationError
from headrace.types import logical_types as t
from headrace.types.logical_types import DataType
from headrace.types.sql_map import SqlMap

Make = Callable[[Random], Any]
_BITS: dict[type[DataType], int] = {t.TinyIntType: 8, t.SmallIntType: 16, t.IntType: 32, t.BigIntType: 64}
_DAY = 86_400_000_000
_LONGEST = 2**31 - 1
_DEFAULT_LENGTH = 100
_DEFAULT_SIZE = 3


@dataclass(frozen=True)
class Generator:
    """Makes the values of a column. A sequence has a `count`; other values are random, with nulls at a rate."""

    kind: DataType
    options: Options
    prefix: str
    start: int = 0
    count: int | None = None
    columnar: bool = True

    def sequence(self, numbers: range) -> list[Any]:
        """Return the values of a sequence for the numbers of rows."""
        start = self.start
        if isinstance(self.kind, (t.VarCharType, t.CharType)):
            return [str(start + number) for number in numbers]
        if isinstance(self.kind, t.DecimalType):
            step = Decimal(1).scaleb(-self.kind.scale)
            return [Decimal(start + number).quantize(step) for number in numbers]
        if type(self.kind) in (t.FloatType, t.DoubleType):
            return [float(start + number) for number in numbers]
        return [start + number for number in numbers]

    def array(self, numbers: range) -> Any:
        """Return the same as a column."""
        from headrace.operators.table.batches import arrow_type, numpy, pyarrow

        if type(self.kind) in _BITS:
            np = numpy()
            values = np.arange(numbers.start + self.start, numbers.stop + self.start, numbers.step, dtype=np.int64)
            return pyarrow().array(values).cast(arrow_type(self.kind))
        return pyarrow().array(self.sequence(numbers), arrow_type(self.kind))

    def values(self, random: Random, count: int) -> list[Any]:
        """Return random values."""
        make = random_maker(self.prefix, self.kind, self.options)
        return [make(random) for _ in range(count)]


def generator_of(prefix: str, kind: DataType, options: Options) -> Generator:
    """Return the generator of a column, after a check of its options."""
    if options[f"{prefix}.kind"] == "sequence":
        return _sequence(prefix, kind, options)
    for name in ("start", "end"):
        if f"{prefix}.{name}" in options:
            raise SqlValidationError(
                f"The option '{prefix}.{name}' is for sequences", remedy=f"set '{prefix}.kind' = 'sequence'"
            )
    random_maker(prefix, kind, options)  # checks types and options
    return Generator(
        kind, options, prefix, columnar=not isinstance(kind, (t.RowType, t.ArrayType, t.MapType, t.MultisetType))
    )


def _sequence(prefix: str, kind: DataType, options: Options) -> Generator:
    allowed = (*_BITS, t.FloatType, t.DoubleType, t.DecimalType, t.VarCharType, t.CharType)
    if type(kind) not in allowed:
        raise SqlValidationError(f"The column of '{prefix}' cannot be a sequence", seen=repr(kind))
    bounds = []
    for name in ("start", "end"):
        key = f"{prefix}.{name}"
        if key not in options:
            raise SqlValidationError(
                f"Could not find required property '{key}' for sequence generator.", remedy=f"set '{key}'"
            )
        bounds.append(_integer(options, key))
    start, end = bounds
    if end < start:
        raise SqlValidationError(f"'{prefix}.end' is below '{prefix}.start'", seen=f"{start} to {end}")
    return Generator(kind, options, prefix, start, end - start + 1)


def random_maker(prefix: str, kind: DataType, options: Options) -> Make:
    """Return the function that makes a random value, or null at the column's rate."""
    make = _maker(prefix, kind, options)
    rate = options[f"{prefix}.null-rate"]
    if not 0 <= rate <= 1:
        raise SqlValidationError(f"The option '{prefix}.null-rate' is a number from 0 to 1", seen=rate)
    return make if not rate else lambda random: None if random.random() < rate else make(random)


def _maker(prefix: str, kind: DataType, options: Options) -> Make:
    bits = _BITS.get(type(kind))
    if bits is not None:
        limit = 1 << (bits - 1)
        least, most = _integer(options, f"{prefix}.min", -limit), _integer(options, f"{prefix}.max", limit - 1)
        _ordered(prefix, least, most)
        return lambda random: random.randint(least, most)
    if type(kind) in _PLAIN:
        return _PLAIN[type(kind)](prefix, options)
    match kind:
        case t.DecimalType():
            return _decimals(prefix, kind, options)
        case t.CharType(length=length) | t.BinaryType(length=length):
            return _texts(prefix, length, length, options, isinstance(kind, t.BinaryType))
        case t.VarCharType(length=length) | t.VarBinaryType(length=length):
            usual = _DEFAULT_LENGTH if length == _LONGEST else length
            return _texts(prefix, usual, length, options, isinstance(kind, t.VarBinaryType))
        case t.TimestampType() | t.LocalZonedTimestampType():
            past = options[f"{prefix}.max-past"]
            return lambda random: (time.time_ns() // 1_000_000 - (int(random.random() * past) if past else 0)) * 1000
        case t.TimeType():
            return lambda random: time.time_ns() // 1_000_000 % 86_400_000
        case t.ArrayType() | t.MapType() | t.MultisetType() | t.RowType():
            return _collections(prefix, kind, options)
    raise SqlNotSupportedError(f"'datagen' cannot make values of the type {kind!r}, the column of '{prefix}'")


def _collections(prefix: str, kind: DataType, options: Options) -> Make:
    if isinstance(kind, t.RowType):
        parts = [random_maker(f"{prefix}.{field.name}", field.data_type, options) for field in kind.fields]
        return lambda random: tuple([make(random) for make in parts])
    size = _length(prefix, _DEFAULT_SIZE, _LONGEST, options)
    if isinstance(kind, t.ArrayType):
        element = random_maker(f"{prefix}.element", kind.element_type, options)
        return lambda random: tuple([element(random) for _ in range(size)])
    if isinstance(kind, t.MapType):
        key, value = (
            random_maker(f"{prefix}.key", kind.key_type, options),
            random_maker(f"{prefix}.value", kind.value_type, options),
        )
        return lambda random: SqlMap((key(random), value(random)) for _ in range(size))
    assert isinstance(kind, t.MultisetType)
    member = random_maker(f"{prefix}.element", kind.element_type, options)
    return lambda random: SqlMap((member(random), random.randint(0, 10)) for _ in range(size))


def _length(prefix: str, usual: int, most: int, options: Options) -> int:
    found = options[f"{prefix}.length"]
    length = usual if found is None else int(found)
    if not 0 <= length <= most:
        raise SqlValidationError(
            f"Custom length '{length}' for variable-length type (field '{prefix.removeprefix('fields.')}') should be "
            f"shorter than '{most}' defined in the schema."
        )
    return length


def _texts(prefix: str, usual: int, most: int, options: Options, binary: bool) -> Make:
    length, varies = _length(prefix, usual, most, options), options[f"{prefix}.var-len"]

    def text(random: Random) -> Any:
        size = random.randint(1, length) if varies and length else length
        if binary:
            return random.randbytes(size)
        return random.randbytes((size + 1) // 2).hex()[:size]

    return text


def _decimals(prefix: str, kind: t.DecimalType, options: Options) -> Make:
    step = Decimal(1).scaleb(-kind.scale)
    limit = Decimal(10) ** (kind.precision - kind.scale) - step
    least = Decimal(options[f"{prefix}.min"] or -limit)
    most = Decimal(options[f"{prefix}.max"] or limit)
    _ordered(prefix, least, most)
    units = int((most - least) / step)
    return lambda random: (least + step * random.randint(0, units)).quantize(step, rounding=ROUND_DOWN)


def _floats(narrow: bool, largest: float) -> Callable[[str, Options], Make]:
    def make(prefix: str, options: Options) -> Make:
        least, most = _number(options, f"{prefix}.min", -largest), _number(options, f"{prefix}.max", largest)
        _ordered(prefix, least, most)
        if narrow:
            return lambda random: single(least + (most - least) * random.random())
        # The difference of the defaults is infinite.
        return lambda random: least * (1 - (share := random.random())) + most * share

    return make


_PLAIN: dict[type[DataType], Callable[[str, Options], Make]] = {
    t.BooleanType: lambda prefix, options: lambda random: random.random() < 0.5,
    t.FloatType: _floats(True, 3.4028234663852886e38),
    t.DoubleType: _floats(False, 1.7976931348623157e308),
    t.DateType: lambda prefix, options: lambda random: time.time_ns() // 1000 // _DAY,
    t.YearMonthIntervalType: lambda prefix, options: lambda random: random.randint(0, 120_000),
    t.DayTimeIntervalType: lambda prefix, options: lambda random: random.randint(0, 86_400_000_000),
}


def _integer(options: Options, key: str, default: int = 0) -> int:
    try:
        return default if options[key] is None else int(options[key])
    except ValueError:
        raise SqlValidationError(f"The option '{key}' is an integer", seen=options[key]) from None


def _number(options: Options, key: str, default: float) -> float:
    try:
        return default if options[key] is None else float(options[key])
    except ValueError:
        raise SqlValidationError(f"The option '{key}' is a number", seen=options[key]) from None


def _ordered(prefix: str, least: Any, most: Any) -> None:
    if most < least:
        raise SqlValidationError(f"'{prefix}.max' is below '{prefix}.min'", seen=f"{least} to {most}")
