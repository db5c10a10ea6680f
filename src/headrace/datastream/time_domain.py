"""TimeDomain, under the name of PyFlink's module."""

from headrace.common.time_domain import TimeDomain

__all__ = ["TimeDomain"]
