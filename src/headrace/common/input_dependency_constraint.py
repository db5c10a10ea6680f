"""InputDependencyConstraint, for old programs. No effect: Spark's scheduler decides when a stage starts."""

from enum import Enum

from headrace.compatibility.names import offer_pyflink_names

__all__ = ["InputDependencyConstraint"]
offer_pyflink_names(__name__)


class InputDependencyConstraint(Enum):
    """Whether a task starts when any or all of its inputs can be read.

    >>> InputDependencyConstraint.ANY.value
    0
    """

    ANY = 0
    ALL = 1
