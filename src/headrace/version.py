"""The version of headrace, under PyFlink's module path."""

from headrace import __version__

__all__ = ["__version__"]
