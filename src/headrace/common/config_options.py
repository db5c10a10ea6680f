"""Re-export of `headrace.config.config_options`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.config.config_options import (
    ConfigOption as ConfigOption,
)
from headrace.config.config_options import (
    ConfigOptions as ConfigOptions,
)

offer_pyflink_names(__name__)
