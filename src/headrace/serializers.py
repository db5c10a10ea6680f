"""Stands for `pyflink.serializers`: what a program imports from it is refused with what to use instead."""

from headrace.compatibility.names import offer_pyflink_names

__all__: list[str] = []

offer_pyflink_names(__name__)
