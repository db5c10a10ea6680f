"""TimeDomain, under PyFlink's module path."""

from headrace.common.time_domain import TimeDomain
from headrace.compatibility.names import offer_pyflink_names

__all__ = ["TimeDomain"]

offer_pyflink_names(__name__)
