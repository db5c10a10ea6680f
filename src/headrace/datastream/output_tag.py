"""OutputTag, under the name of PyFlink's module."""

from headrace.common.output_tag import OutputTag

__all__ = ["OutputTag"]
