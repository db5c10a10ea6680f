"""Re-export of `headrace.formats.json`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.formats.json import *
from headrace.formats.json import __all__ as __all__

offer_pyflink_names(__name__, "headrace.formats.json")
