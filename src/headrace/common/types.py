"""Re-export of `headrace.types.row`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.types.row import (
    Row,
    RowKind,
)

__all__ = [
    "Row",
    "RowKind",
]

offer_pyflink_names(__name__, "headrace.types.row")
