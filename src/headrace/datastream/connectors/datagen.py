"""Re-export of `headrace.connectors.generated.datagen`, under PyFlink's module path."""

from headrace.connectors.generated.datagen import *
from headrace.connectors.generated.datagen import __all__ as __all__
