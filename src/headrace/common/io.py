"""The base of input formats.

Decides nothing: the formats of the datastream package say how they read. Programs only pass such objects on.
"""

from typing import Any

from headrace.compatibility.names import offer_pyflink_names
from headrace.errors import NoJvmError

__all__ = ["InputFormat"]


class InputFormat:
    """What reads records of files; the base of all of them.

    >>> isinstance(InputFormat(), InputFormat)
    True
    """

    def get_java_object(self) -> Any:
        """Refuse: there is no JVM of Flink."""
        raise NoJvmError("An InputFormat has no Java object in headrace", remedy="pass the format itself")


offer_pyflink_names(__name__)
