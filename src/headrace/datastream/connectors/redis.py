"""Re-export of `headrace.connectors.redis.sink_builder`, under PyFlink's module path."""

from headrace.connectors.redis.sink_builder import *
from headrace.connectors.redis.sink_builder import __all__ as __all__
