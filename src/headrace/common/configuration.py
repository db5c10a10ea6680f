"""Re-export of `headrace.config.configuration`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.config.configuration import *
from headrace.config.configuration import __all__ as __all__

offer_pyflink_names(__name__, "headrace.config.configuration")
