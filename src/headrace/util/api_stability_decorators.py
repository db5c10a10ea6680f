"""The path of `pyflink.util.api_stability_decorators`; importing its names raises an error with the alternative."""

from headrace.compatibility.names import offer_pyflink_names

__all__: list[str] = []

offer_pyflink_names(__name__)
