"""Which types can be cast to which by CAST and TRY_CAST."""

from __future__ import annotations

from headrace.table.functions.type_families import DATETIME, EXACT_NUMERIC, INTERVAL, NUMERIC, Family, family
from headrace.types.logical_types import ArrayType, DataType, MapType, MultisetType, RowType

_F = Family
_SOURCES: dict[Family, frozenset[Family]] = {
    _F.BOOLEAN: NUMERIC | {_F.BOOLEAN, _F.CHARACTER},
    _F.INTEGER: NUMERIC | INTERVAL | {_F.BOOLEAN, _F.CHARACTER},
    _F.DECIMAL: NUMERIC | {_F.BOOLEAN, _F.CHARACTER},
    _F.APPROXIMATE: NUMERIC | {_F.BOOLEAN, _F.CHARACTER},
    _F.BINARY: frozenset({_F.BINARY, _F.CHARACTER, _F.RAW}),
    _F.DATE: frozenset({_F.DATE, _F.TIMESTAMP, _F.TIMESTAMP_LTZ, _F.CHARACTER}),
    _F.TIME: frozenset({_F.TIME, _F.TIMESTAMP, _F.TIMESTAMP_LTZ, _F.CHARACTER}),
    _F.TIMESTAMP: DATETIME | {_F.CHARACTER},
    _F.TIMESTAMP_LTZ: DATETIME | {_F.CHARACTER},
    _F.MONTHS: EXACT_NUMERIC | {_F.MONTHS},
    _F.DURATION: EXACT_NUMERIC | {_F.DURATION},
}


def can_cast(source: DataType, target: DataType) -> bool:
    """Return whether CAST accepts the types.

    >>> from headrace.types.logical_types import DoubleType, IntType, TimestampType
    >>> can_cast(DoubleType(), IntType()), can_cast(TimestampType(), IntType())
    (True, False)
    """
    if family(source) is Family.NULL or source == target:
        return True
    match source, target:
        case ArrayType(), ArrayType():
            return can_cast(source.element_type, target.element_type)
        case MultisetType(), MultisetType():
            return can_cast(source.element_type, target.element_type)
        case MapType(), MapType():
            return can_cast(source.key_type, target.key_type) and can_cast(source.value_type, target.value_type)
        case RowType(), RowType():
            pairs = zip(source.field_types(), target.field_types())
            return len(source) == len(target) and all(can_cast(one, other) for one, other in pairs)
    if family(target) is Family.CHARACTER:
        return True
    return family(source) in _SOURCES.get(family(target), ())
