"""Type information of streams, states and fields.

Decides how types are created, named, compared and printed. Codecs convert and encode values, ``java_formatting`` prints
them. Programs use ``Types``.
"""

from headrace.types.typeinfo._base import TypeInformation
from headrace.types.typeinfo._basic import BasicType, BasicTypeInfo, InstantTypeInfo, PickledBytesTypeInfo
from headrace.types.typeinfo._collection import (
    BasicArrayTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
)
from headrace.types.typeinfo._composite import RowTypeInfo, TupleTypeInfo
from headrace.types.typeinfo._time import (
    DateTypeInfo,
    LocalTimeTypeInfo,
    LocalZonedTimestampTypeInfo,
    SqlTimeTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
)
from headrace.types.typeinfo._types import Types

__all__ = [
    "BasicArrayTypeInfo",
    "BasicType",
    "BasicTypeInfo",
    "DateTypeInfo",
    "ExternalTypeInfo",
    "InstantTypeInfo",
    "ListTypeInfo",
    "LocalTimeTypeInfo",
    "LocalZonedTimestampTypeInfo",
    "MapTypeInfo",
    "ObjectArrayTypeInfo",
    "PickledBytesTypeInfo",
    "PrimitiveArrayTypeInfo",
    "RowTypeInfo",
    "SqlTimeTypeInfo",
    "TimeTypeInfo",
    "TimestampTypeInfo",
    "TupleTypeInfo",
    "TypeInformation",
    "Types",
]
