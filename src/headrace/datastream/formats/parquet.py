"""Re-export of `headrace.formats.parquet`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.formats.parquet import *
from headrace.formats.parquet import __all__ as __all__

offer_pyflink_names(__name__, "headrace.formats.parquet")
