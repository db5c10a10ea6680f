"""Provide names that PyFlink's modules expose because they import them, or exposed in older versions.

Decides what happens if a program imports a name that a module of headrace does not define: it gets the object from the
defining module, an `ImportError` with the alternative for a name that headrace does not have, or an AttributeError.
Imports are lazy. `tests/data/pyflink_names.json` lists what PyFlink exposes, and a test imports all of it.
"""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase
from importlib import import_module
from typing import Any

from headrace.compatibility.exports import ANYWHERE, EXPORTS
from headrace.compatibility.missing_names import WITHOUT
from headrace.errors import HeadraceError

MODULES = "import"


class NameNotSupportedError(HeadraceError, ImportError):
    """A name of PyFlink that headrace does not have.

    >>> from headrace.datastream.connectors.elasticsearch import Elasticsearch7SinkBuilder
    Traceback (most recent call last):
    ...
    headrace.compatibility.names.NameNotSupportedError: headrace has no Elasticsearch7SinkBuilder [NAME_NOT_SUPPORTED]
      seen:     headrace.datastream.connectors.elasticsearch.Elasticsearch7SinkBuilder
      remedy:   there is no Elasticsearch connector: write a SinkFunction in Python
    """

    code = "NAME_NOT_SUPPORTED"


def offer_pyflink_names(module: str, definitions: str | None = None) -> None:
    """Let a module provide all names of the PyFlink module with the same path.

    `definitions` is the module whose names this one re-exports. Names that it imports are visible here, too.

    >>> from headrace.datastream.window import Time
    >>> Time.seconds(1).to_milliseconds()
    1000
    """
    table = {
        name: home
        for homes in (ANYWHERE, EXPORTS.get(module.removeprefix("headrace."), {}))
        for home, names in homes.items()
        for name in names.split()
    }

    def find(name: str) -> Any:
        home = table.get(name)
        if home is not None:
            return import_module(name) if home == MODULES else _member(home, name)
        if definitions is not None and hasattr(own := import_module(definitions), name):
            return getattr(own, name)
        for without in WITHOUT:
            if any(fnmatchcase(name, pattern) for pattern in without.names.split()):
                raise NameNotSupportedError(
                    f"headrace has no {name}", seen=f"{module}.{name}", remedy=f"{without.why}: {without.instead}"
                )
        raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name, obj=sys.modules[module])

    sys.modules[module].__dict__["__getattr__"] = find


def _member(home: str, name: str) -> Any:
    module = import_module(home)
    return getattr(module, name) if hasattr(module, name) else import_module(f"{home}.{name}")
