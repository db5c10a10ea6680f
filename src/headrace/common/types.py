"""Re-export of `headrace.types.row`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.types.row import (
    Row as Row,
)
from headrace.types.row import (
    RowKind as RowKind,
)

offer_pyflink_names(__name__)
