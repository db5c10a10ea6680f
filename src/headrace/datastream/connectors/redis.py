"""Re-export of `headrace.connectors.redis.sink`, under PyFlink's module path."""

from headrace.connectors.redis.sink import *
from headrace.connectors.redis.sink import __all__ as __all__
