"""Re-export of `headrace.errors`."""

from headrace.errors import *
from headrace.errors import __all__ as __all__
