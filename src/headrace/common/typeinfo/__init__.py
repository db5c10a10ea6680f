"""Type information: what streams, states and fields hold.

Decides how types are made, named, compared and printed. Never touches values beyond their plain forms: codecs coerce
and encode them, string forms print them. Programs use ``Types``.
"""

from headrace.common.pyflink_names import offer_pyflink_names
from headrace.common.typeinfo._base import TypeInformation
from headrace.common.typeinfo._basic import BasicType, BasicTypeInfo, InstantTypeInfo, PickledBytesTypeInfo
from headrace.common.typeinfo._collection import (
    BasicArrayTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
)
from headrace.common.typeinfo._composite import RowTypeInfo, TupleTypeInfo
from headrace.common.typeinfo._time import (
    DateTypeInfo,
    LocalTimeTypeInfo,
    LocalZonedTimestampTypeInfo,
    SqlTimeTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
)
from headrace.common.typeinfo._types import Types

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

offer_pyflink_names(__name__)
