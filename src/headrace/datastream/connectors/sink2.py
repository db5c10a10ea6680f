"""Re-export of `headrace.connectors.functions.sink2`, under PyFlink's module path."""

from headrace.connectors.functions.sink2 import *
from headrace.connectors.functions.sink2 import __all__ as __all__
