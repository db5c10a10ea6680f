"""Re-export of `headrace.connectors.rabbitmq.builders`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.connectors.rabbitmq.builders import *
from headrace.connectors.rabbitmq.builders import __all__ as __all__

offer_pyflink_names(__name__, "headrace.connectors.rabbitmq.builders")
