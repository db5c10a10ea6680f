"""Re-export of `headrace.config.restart_strategy`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.config.restart_strategy import *
from headrace.config.restart_strategy import __all__ as __all__

offer_pyflink_names(__name__, "headrace.config.restart_strategy")
