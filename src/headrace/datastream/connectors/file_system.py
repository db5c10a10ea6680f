"""Files as source and sink; the names are those of `pyflink.datastream.connectors.file_system`."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.connectors.base.definitions import Sink as Sink
from headrace.connectors.base.definitions import Source as Source
from headrace.connectors.files import sink
from headrace.connectors.files.sink import *
from headrace.connectors.files.source import *
from headrace.connectors.files.source import __all__ as __all__

__all__ += sink.__all__

offer_pyflink_names(__name__, "headrace.connectors.files.source")
