"""TimeDomain, under the name of PyFlink's module."""

from headrace.common.time_domain import TimeDomain
from headrace.compatibility.names import offer_pyflink_names

__all__ = ["TimeDomain"]

offer_pyflink_names(__name__)
