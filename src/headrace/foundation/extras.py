"""Import optional packages of connectors and formats when they are used."""

from __future__ import annotations

import importlib
from typing import Any

from headrace.errors import MissingExtraError, StateError


def need(module: str, extra: str, what: str) -> Any:
    """Import `module`, or raise an error that names the extra to install.

    >>> need("json", "formats", "JSON").loads("1")
    1
    >>> need("no_such_module", "kafka", "KafkaSource")
    Traceback (most recent call last):
    ...
    headrace.errors.MissingExtraError: KafkaSource needs the package no_such_module [MISSING_EXTRA]
      remedy:   pip install 'headrace[kafka]'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not (module == error.name or module.startswith(error.name + ".")):
            raise
        raise MissingExtraError(
            f"{what} needs the package {module.partition('.')[0]}", remedy=f"pip install 'headrace[{extra}]'"
        ) from None


def require_rocksdict() -> Any:
    """Return the package, or raise an error that tells how to install it."""
    try:
        import rocksdict
    except ImportError as error:
        raise StateError(
            "The disk state backend needs the package rocksdict, which is not installed here",
            expected="rocksdict on the machine that submits the job and on every worker",
            remedy="pip install 'headrace[rocksdb]', or use HashMapStateBackend (state.backend.type: hashmap)",
        ) from error
    return rocksdict
