"""Re-export of `headrace.types.data_types`, under PyFlink's module path."""

from headrace.types.data_types import (
    DataType as DataType,
)
from headrace.types.data_types import (
    DataTypes as DataTypes,
)
from headrace.types.data_types import (
    RowField as RowField,
)
from headrace.types.data_types import (
    RowType as RowType,
)
from headrace.types.data_types import (
    row_type_of_stream as row_type_of_stream,
)
from headrace.types.data_types import (
    stream_type as stream_type,
)
