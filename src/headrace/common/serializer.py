"""Re-export of `headrace.types.serializer`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.types.serializer import (
    TypeSerializer as TypeSerializer,
)
from headrace.types.serializer import (
    VoidNamespaceSerializer as VoidNamespaceSerializer,
)

offer_pyflink_names(__name__)
