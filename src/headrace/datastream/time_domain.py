"""TimeDomain, under the name of PyFlink's module."""

from headrace.common.pyflink_names import offer_pyflink_names
from headrace.common.time_domain import TimeDomain

__all__ = ["TimeDomain"]

offer_pyflink_names(__name__)
