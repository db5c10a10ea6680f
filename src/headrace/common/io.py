"""InputFormat: the base of input formats, which programs pass to `StreamExecutionEnvironment.create_input`."""

from typing import Any

from headrace.compatibility.names import offer_pyflink_names
from headrace.errors import NoJvmError

__all__ = ["InputFormat"]
offer_pyflink_names(__name__)


class InputFormat:
    """Reads records of files.

    >>> isinstance(InputFormat(), InputFormat)
    True
    """

    def get_java_object(self) -> Any:
        """Raise NoJvmError: there is no Flink JVM."""
        raise NoJvmError("An InputFormat has no Java object in headrace", remedy="pass the format itself")
