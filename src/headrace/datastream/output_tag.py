"""OutputTag, under the name of PyFlink's module."""

from headrace.common.output_tag import OutputTag
from headrace.compatibility.names import offer_pyflink_names

__all__ = ["OutputTag"]

offer_pyflink_names(__name__)
