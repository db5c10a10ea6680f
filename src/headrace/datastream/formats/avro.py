"""Re-export of `headrace.formats.avro`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.formats.avro import *
from headrace.formats.avro import __all__ as __all__

offer_pyflink_names(__name__, "headrace.formats.avro")
