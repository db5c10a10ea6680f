"""Re-export of `headrace.formats.orc`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.formats.orc import (
    OrcBulkWriters as OrcBulkWriters,
)
from headrace.formats.orc import (
    OrcColumnarRowInputFormat as OrcColumnarRowInputFormat,
)

offer_pyflink_names(__name__)
