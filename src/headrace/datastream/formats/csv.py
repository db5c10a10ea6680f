"""Re-export of `headrace.formats.csv`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.formats.csv import *
from headrace.formats.csv import __all__ as __all__

offer_pyflink_names(__name__, "headrace.formats.csv")
