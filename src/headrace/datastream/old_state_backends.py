"""The state backends of Flink 1.12 and earlier: state backend and checkpoint storage in one object.

`StreamExecutionEnvironment.set_state_backend` separates the two. Programs import them from
`headrace.datastream.state_backend`.
"""

from __future__ import annotations

from headrace.config import checkpoint_keys
from headrace.config.configuration import Configuration
from headrace.datastream.checkpoint_storage import (
    CheckpointStorage,
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
)
from headrace.datastream.state_backends import EmbeddedRocksDBStateBackend, HashMapStateBackend, StateBackend
from headrace.errors import ConfigurationError, InvalidProgramError


class _HeapStateBackend(HashMapStateBackend):
    """The base of both old backends in memory."""

    _storage: CheckpointStorage
    _asynchronous: bool | None

    def implied_storage(self) -> CheckpointStorage:
        """Return where checkpoints are stored."""
        return self._storage

    def is_using_asynchronous_snapshots(self) -> bool:
        """Return whether snapshots are written in the background."""
        return self._asynchronous is not False


class MemoryStateBackend(_HeapStateBackend):
    """The old name for live objects in memory, with checkpoints on the driver.

    >>> MemoryStateBackend().get_max_state_size()
    5242880
    """

    DEFAULT_MAX_STATE_SIZE = JobManagerCheckpointStorage.DEFAULT_MAX_STATE_SIZE
    _storage: JobManagerCheckpointStorage

    def __init__(
        self,
        checkpoint_path: str | None = None,
        savepoint_path: str | None = None,
        max_state_size: int | None = None,
        using_asynchronous_snapshots: bool | None = None,
        j_memory_state_backend: object = None,
    ) -> None:
        super().__init__(j_memory_state_backend)
        self._storage = JobManagerCheckpointStorage(checkpoint_path, max_state_size)
        self._asynchronous = using_asynchronous_snapshots

    def get_max_state_size(self) -> int:
        """Return the maximum size of a state in bytes."""
        return self._storage.get_max_state_size()


class FsStateBackend(_HeapStateBackend):
    """The old name for live objects in memory, with checkpoints in files.

    >>> FsStateBackend("file:///var/checkpoints").get_checkpoint_path()
    'file:/var/checkpoints'
    """

    _storage: FileSystemCheckpointStorage

    def __init__(
        self,
        checkpoint_directory_uri: str | None = None,
        default_savepoint_directory_uri: str | None = None,
        file_state_size_threshold: int | None = None,
        write_buffer_size: int | None = None,
        using_asynchronous_snapshots: bool | None = None,
        j_fs_state_backend: object = None,
    ) -> None:
        super().__init__(j_fs_state_backend)
        if checkpoint_directory_uri is None:
            raise InvalidProgramError("The parameter 'checkpoint_directory_uri' is required!")
        self._storage = FileSystemCheckpointStorage(
            checkpoint_directory_uri, file_state_size_threshold, -1 if write_buffer_size is None else write_buffer_size
        )
        self._asynchronous = using_asynchronous_snapshots

    def get_checkpoint_path(self) -> str:
        """Return the directory of checkpoints."""
        return self._storage.get_checkpoint_path()

    def get_min_file_size_threshold(self) -> int:
        """Return the size in bytes from which a state has its own file."""
        return self._storage.get_min_file_size_threshold()

    def get_write_buffer_size(self) -> int:
        """Return the size of the write buffer in bytes."""
        return self._storage.get_write_buffer_size()


class RocksDBStateBackend(EmbeddedRocksDBStateBackend):
    """The old name for state on disk, with checkpoints in files.

    >>> RocksDBStateBackend("file:///var/checkpoints", True).is_incremental_checkpoints_enabled()
    True
    """

    def __init__(
        self,
        checkpoint_data_uri: str | None = None,
        enable_incremental_checkpointing: bool | None = None,
        checkpoint_stream_backend: StateBackend | None = None,
        j_rocks_db_state_backend: object = None,
    ) -> None:
        """Set the directory of checkpoints, or an old backend that has one."""
        super().__init__(enable_incremental_checkpointing, j_rocks_db_state_backend)
        if checkpoint_data_uri is None and checkpoint_stream_backend is None:
            raise InvalidProgramError(
                "The parameter 'checkpoint_data_uri' is required for RocksDBStateBackend.",
                remedy="pass it, or use EmbeddedRocksDBStateBackend with a checkpoint storage",
            )
        self._stream_backend = checkpoint_stream_backend or FsStateBackend(checkpoint_data_uri)

    def implied_storage(self) -> CheckpointStorage | None:
        """Return the storage of the checkpoints."""
        return self._stream_backend.implied_storage()

    def get_checkpoint_backend(self) -> StateBackend:
        """Return the backend that determines the checkpoint storage."""
        return self._stream_backend

    def get_number_of_transfering_threads(self) -> int:
        """Return the number of threads that copy files."""
        return self.get_number_of_transfer_threads()

    def set_number_of_transfering_threads(self, number_of_transfering_threads: int) -> None:
        """Set the number of threads that copy files."""
        self.set_number_of_transfer_threads(number_of_transfering_threads)


def backend_named(name: str, configuration: Configuration) -> StateBackend:
    """Return the backend of ``state.backend.type``; the old names mean the old backends.

    >>> type(backend_named("jobmanager", Configuration())).__name__
    'MemoryStateBackend'
    """
    directory = configuration.get(checkpoint_keys.CHECKPOINT_DIRECTORY)
    match name.lower():
        case "hashmap":
            return HashMapStateBackend()
        case "rocksdb":
            return EmbeddedRocksDBStateBackend()
        case "jobmanager":
            return MemoryStateBackend(directory)
        case "filesystem":
            return FsStateBackend(directory)
    raise ConfigurationError(
        f"{checkpoint_keys.STATE_BACKEND.key} is not a known state backend", seen=name, expected="hashmap or rocksdb"
    )
