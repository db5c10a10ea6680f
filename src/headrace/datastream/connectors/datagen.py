"""Re-export of `headrace.connectors.generated.datagen_builder`, under PyFlink's module path."""

from headrace.connectors.generated.datagen_builder import (
    DataGeneratorSource,
)

__all__ = [
    "DataGeneratorSource",
]
