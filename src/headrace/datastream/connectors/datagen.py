"""Re-export of `headrace.connectors.generated.datagen_builder`, under PyFlink's module path."""

from headrace.connectors.generated.datagen_builder import *
from headrace.connectors.generated.datagen_builder import __all__ as __all__
