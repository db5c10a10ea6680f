"""Re-export of `headrace.formats.orc`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.formats.orc import (
    OrcBulkWriters,
    OrcColumnarRowInputFormat,
)

__all__ = [
    "OrcBulkWriters",
    "OrcColumnarRowInputFormat",
]

offer_pyflink_names(__name__, "headrace.formats.orc")
