"""Re-export of `headrace.types.typeinfo`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.types.typeinfo import (
    BasicArrayTypeInfo as BasicArrayTypeInfo,
)
from headrace.types.typeinfo import (
    BasicType as BasicType,
)
from headrace.types.typeinfo import (
    BasicTypeInfo as BasicTypeInfo,
)
from headrace.types.typeinfo import (
    DateTypeInfo as DateTypeInfo,
)
from headrace.types.typeinfo import (
    ExternalTypeInfo as ExternalTypeInfo,
)
from headrace.types.typeinfo import (
    InstantTypeInfo as InstantTypeInfo,
)
from headrace.types.typeinfo import (
    ListTypeInfo as ListTypeInfo,
)
from headrace.types.typeinfo import (
    LocalTimeTypeInfo as LocalTimeTypeInfo,
)
from headrace.types.typeinfo import (
    LocalZonedTimestampTypeInfo as LocalZonedTimestampTypeInfo,
)
from headrace.types.typeinfo import (
    MapTypeInfo as MapTypeInfo,
)
from headrace.types.typeinfo import (
    ObjectArrayTypeInfo as ObjectArrayTypeInfo,
)
from headrace.types.typeinfo import (
    PickledBytesTypeInfo as PickledBytesTypeInfo,
)
from headrace.types.typeinfo import (
    PrimitiveArrayTypeInfo as PrimitiveArrayTypeInfo,
)
from headrace.types.typeinfo import (
    RowTypeInfo as RowTypeInfo,
)
from headrace.types.typeinfo import (
    SqlTimeTypeInfo as SqlTimeTypeInfo,
)
from headrace.types.typeinfo import (
    TimestampTypeInfo as TimestampTypeInfo,
)
from headrace.types.typeinfo import (
    TimeTypeInfo as TimeTypeInfo,
)
from headrace.types.typeinfo import (
    TupleTypeInfo as TupleTypeInfo,
)
from headrace.types.typeinfo import (
    TypeInformation as TypeInformation,
)
from headrace.types.typeinfo import (
    Types as Types,
)

offer_pyflink_names(__name__)
