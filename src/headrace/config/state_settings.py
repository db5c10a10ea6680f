"""The configuration of keyed state, read for the workers."""

from __future__ import annotations

import os

from headrace.config import checkpoint_keys
from headrace.config.configuration import Configuration
from headrace.config.worker_settings import DEFAULT_MEMORY, BackendSettings
from headrace.errors import ConfigurationError
from headrace.foundation.extras import require_rocksdict

__all__ = ["read_backend_settings"]

_LEAST_MEMORY = 1 << 20


def read_backend_settings(configuration: Configuration) -> BackendSettings:
    """Give what the job says about its keyed state; a disk backend that cannot run is refused here.

    >>> read_backend_settings(Configuration()).on_disk
    False
    """
    name = configuration.get(checkpoint_keys.STATE_BACKEND)
    if name is None or name.lower() != "rocksdb":
        return BackendSettings()
    require_rocksdict()
    memory = configuration.get(checkpoint_keys.ROCKSDB_MEMORY)
    directories = configuration.get(checkpoint_keys.ROCKSDB_DIRECTORIES) or ""
    if memory is not None and memory < _LEAST_MEMORY:
        raise ConfigurationError(
            f"{checkpoint_keys.ROCKSDB_MEMORY.key} is too small", seen=memory, expected="at least 1 mb"
        )
    return BackendSettings(
        on_disk=True,
        memory=DEFAULT_MEMORY if memory is None else memory,
        directories=tuple(part for part in directories.replace(",", os.pathsep).split(os.pathsep) if part),
    )
