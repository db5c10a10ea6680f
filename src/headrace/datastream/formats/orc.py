"""Re-export of `headrace.formats.orc`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.formats.orc import *
from headrace.formats.orc import __all__ as __all__

offer_pyflink_names(__name__, "headrace.formats.orc")
