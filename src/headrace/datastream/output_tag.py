"""OutputTag, under PyFlink's module path."""

from headrace.common.output_tag import OutputTag
from headrace.compatibility.names import offer_pyflink_names

__all__ = ["OutputTag"]

offer_pyflink_names(__name__)
