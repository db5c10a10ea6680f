"""The version of headrace, under the name that `pyflink.version` has."""

from headrace import __version__

__all__ = ["__version__"]
