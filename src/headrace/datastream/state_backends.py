"""State backends, for `StreamExecutionEnvironment.set_state_backend`.

Programs import them from `headrace.datastream.state_backend`.
"""

from __future__ import annotations

import os
from enum import Enum
from urllib.parse import urlsplit

from headrace.compatibility.ignored_settings import warn_without_effect
from headrace.compatibility.no_jvm_object import NoJvmObject
from headrace.config import checkpoint_keys
from headrace.config.configuration import Configuration
from headrace.datastream.checkpoint_storage import CheckpointStorage
from headrace.errors import InvalidProgramError, NoJvmError, TypeMismatchError


class PredefinedOptions(Enum):
    """Predefined options of the disk backend.

    >>> PredefinedOptions.DEFAULT.value
    0
    """

    DEFAULT = 0
    SPINNING_DISK_OPTIMIZED = 1
    SPINNING_DISK_OPTIMIZED_HIGH_MEM = 2
    FLASH_SSD_OPTIMIZED = 3


class StateBackend(NoJvmObject):
    """Base of all backends.

    >>> isinstance(HashMapStateBackend(), StateBackend)
    True
    """

    option: str = ""
    """The value of ``state.backend.type``."""

    def implied_storage(self) -> CheckpointStorage | None:
        """Return the checkpoint storage of an old backend, or None."""
        return None

    def configure(self, configuration: Configuration) -> None:
        """Add the settings of the backend to the configuration of a job."""


class HashMapStateBackend(StateBackend):
    """Keeps state as live objects in the memory of the workers.

    >>> str(HashMapStateBackend())
    'HashMapStateBackend'
    """

    option = "hashmap"

    def __init__(self, j_hashmap_state_backend: object = None) -> None:
        """Create the backend, which has no settings."""
        _refuse_java(j_hashmap_state_backend)

    def __str__(self) -> str:
        return type(self).__name__


class EmbeddedRocksDBStateBackend(StateBackend):
    """Keeps state on the local disks of the workers, so that it can be larger than memory.

    >>> backend = EmbeddedRocksDBStateBackend(True)
    >>> backend.is_incremental_checkpoints_enabled(), backend.get_number_of_transfer_threads()
    (True, 4)
    """

    option = "rocksdb"

    def __init__(
        self, enable_incremental_checkpointing: bool | None = None, j_embedded_rocks_db_state_backend: object = None
    ) -> None:
        """Store whether checkpoints are incremental, which they always are."""
        _refuse_java(j_embedded_rocks_db_state_backend)
        if enable_incremental_checkpointing not in (None, True, False):
            raise TypeMismatchError(
                "Unsupported input for 'enable_incremental_checkpointing', "
                "the value of the parameter should be None or True or False.",
                seen=enable_incremental_checkpointing,
            )
        self._incremental = enable_incremental_checkpointing
        self._paths: list[str] = []
        self._predefined = PredefinedOptions.DEFAULT
        self._threads = 4
        self._options_factory: str | None = None

    def set_db_storage_paths(self, *paths: str) -> None:
        """Set the local directories for state; by default the workers' temporary directory."""
        self._paths = [_local_directory(path) for path in paths]

    def get_db_storage_paths(self) -> list[str]:
        """Return the local directories for state."""
        return list(self._paths)

    def is_incremental_checkpoints_enabled(self) -> bool:
        """Return whether checkpoints are incremental."""
        return bool(self._incremental)

    def set_predefined_options(self, options: PredefinedOptions) -> None:
        """Store predefined options; no effect."""
        if not isinstance(options, PredefinedOptions):
            raise TypeMismatchError("set_predefined_options takes PredefinedOptions", seen=options)
        if options is not PredefinedOptions.DEFAULT:
            warn_without_effect("set_predefined_options")
        self._predefined = options

    def get_predefined_options(self) -> PredefinedOptions:
        """Return the predefined options."""
        return self._predefined

    def set_options(self, options_factory_class_name: str) -> None:
        """Store the name of an options factory, a Java class that cannot run; no effect."""
        warn_without_effect("set_options")
        self._options_factory = options_factory_class_name

    def get_options(self) -> str | None:
        """Return the name of the options factory, or None."""
        return self._options_factory

    def get_number_of_transfer_threads(self) -> int:
        """Return the number of threads that copy files."""
        return self._threads

    def set_number_of_transfer_threads(self, number_of_transfering_threads: int) -> None:
        """Set the number of threads that copy files."""
        if number_of_transfering_threads <= 0:
            raise InvalidProgramError(
                "The number of threads used to transfer files in EmbeddedRocksDBStateBackend should be greater than "
                "zero.",
                seen=number_of_transfering_threads,
            )
        warn_without_effect("set_number_of_transfer_threads")
        self._threads = number_of_transfering_threads

    def configure(self, configuration: Configuration) -> None:
        """Add the local directories to the configuration, if any were set."""
        if self._paths:
            configuration.set(checkpoint_keys.ROCKSDB_DIRECTORIES, os.pathsep.join(self._paths))

    def __str__(self) -> str:
        directories = ", ".join(self._paths) or "null"
        incremental = "UNDEFINED" if self._incremental is None else str(self._incremental).upper()
        return (
            f"{type(self).__name__}{{, localRocksDbDirectories={directories}, "
            f"enableIncrementalCheckpointing={incremental}, numberOfTransferThreads={self._threads}}}"
        )


class CustomStateBackend(StateBackend):
    """PyFlink's wrapper of a backend written in Java. Raises NoJvmError.

    >>> CustomStateBackend(None)
    Traceback (most recent call last):
    ...
    headrace.errors.NoJvmError: A state backend written in Java cannot run in headrace [NO_JVM]
      remedy:   use HashMapStateBackend or EmbeddedRocksDBStateBackend
    """

    def __init__(self, j_custom_state_backend: object) -> None:
        """Raise NoJvmError: there is no Flink JVM."""
        _refuse_java(type(self))


def _local_directory(path: str) -> str:
    """Return the path of an address in the local file system, ignoring a host like Flink."""
    address = urlsplit(path)
    if address.scheme not in ("", "file"):
        raise InvalidProgramError("Path must be in the local file system", seen=path)
    if not address.path.startswith("/"):
        raise InvalidProgramError("Relative paths are not supported", seen=path)
    return address.path.rstrip("/") or "/"


def _refuse_java(given: object) -> None:
    if given is not None:
        raise NoJvmError(
            "A state backend written in Java cannot run in headrace",
            remedy="use HashMapStateBackend or EmbeddedRocksDBStateBackend",
        )
