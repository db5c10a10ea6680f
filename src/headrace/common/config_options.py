"""Re-export of `headrace.config.config_options`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.config.config_options import *
from headrace.config.config_options import __all__ as __all__

offer_pyflink_names(__name__, "headrace.config.config_options")
