"""Checkpoint storages, for `CheckpointConfig.set_checkpoint_storage`, and the check of their addresses."""

from __future__ import annotations

from urllib.parse import urlsplit

from headrace.compatibility.ignored_settings import warn_without_effect
from headrace.compatibility.names import offer_pyflink_names
from headrace.compatibility.no_jvm_object import NoJvmObject
from headrace.errors import InvalidProgramError, NoJvmError

__all__ = ["CheckpointStorage", "CustomCheckpointStorage", "FileSystemCheckpointStorage", "JobManagerCheckpointStorage"]
offer_pyflink_names(__name__)


class CheckpointStorage(NoJvmObject):
    """Base of all storages.

    >>> isinstance(JobManagerCheckpointStorage(), CheckpointStorage)
    True
    """

    option: str = ""
    """The value of ``execution.checkpointing.storage``."""

    def get_checkpoint_path(self) -> str | None:
        """Return the directory of checkpoints, or None."""
        return None


class JobManagerCheckpointStorage(CheckpointStorage):
    """Stores checkpoints on the driver, for small state and for experiments.

    >>> str(JobManagerCheckpointStorage())
    'JobManagerCheckpointStorage (checkpoints to JobManager) ( maxStateSize: 5242880)'
    """

    DEFAULT_MAX_STATE_SIZE = 5 * 1024 * 1024
    option = "jobmanager"

    def __init__(
        self,
        checkpoint_path: str | None = None,
        max_state_size: int | None = None,
        j_jobmanager_checkpoint_storage: object = None,
    ) -> None:
        """Set the directory of checkpoint metadata and the maximum size of a state in bytes."""
        _refuse_java(j_jobmanager_checkpoint_storage)
        if max_state_size is not None and max_state_size <= 0:
            raise InvalidProgramError("maxStateSize must be > 0", seen=max_state_size)
        self._path = None if checkpoint_path is None else normalized_path(checkpoint_path, "a checkpoint path")
        self._max_state_size = self.DEFAULT_MAX_STATE_SIZE if max_state_size is None else max_state_size
        if self._max_state_size != self.DEFAULT_MAX_STATE_SIZE:
            warn_without_effect("max_state_size")

    def get_checkpoint_path(self) -> str | None:
        """Return the directory of checkpoint metadata, or None."""
        return self._path

    def get_max_state_size(self) -> int:
        """Return the maximum size of a state in bytes."""
        return self._max_state_size

    def get_savepoint_path(self) -> str | None:
        """Return None: the environment has the directory of savepoints."""
        return None

    def __str__(self) -> str:
        return f"JobManagerCheckpointStorage (checkpoints to JobManager) ( maxStateSize: {self._max_state_size})"


class FileSystemCheckpointStorage(CheckpointStorage):
    """Writes checkpoints as files to a directory that all machines can access.

    >>> FileSystemCheckpointStorage("file:///var/checkpoints").get_checkpoint_path()
    'file:/var/checkpoints'
    """

    MAX_FILE_STATE_THRESHOLD = 1024 * 1024
    option = "filesystem"

    def __init__(
        self,
        checkpoint_path: str | None = None,
        file_state_size_threshold: int | None = None,
        write_buffer_size: int = -1,
        j_filesystem_checkpoint_storage: object = None,
    ) -> None:
        """Set the directory; states below the threshold are stored in the checkpoint's metadata file."""
        _refuse_java(j_filesystem_checkpoint_storage)
        if checkpoint_path is None:
            raise InvalidProgramError("checkpoint_path must not be None")
        threshold = -1 if file_state_size_threshold is None else file_state_size_threshold
        if not -1 <= threshold <= self.MAX_FILE_STATE_THRESHOLD:
            raise InvalidProgramError(
                f"The threshold for file state size must be in [-1, {self.MAX_FILE_STATE_THRESHOLD}], where '-1' "
                "means to use the value from the deployment's configuration.",
                seen=threshold,
            )
        self._path = normalized_path(checkpoint_path, "a checkpoint path")
        if threshold >= 0:
            warn_without_effect("file_state_size_threshold")
        if write_buffer_size >= 0:
            warn_without_effect("write_buffer_size")
        self._threshold = threshold
        self._write_buffer_size = write_buffer_size

    def get_checkpoint_path(self) -> str:
        """Return the directory."""
        return self._path

    def get_savepoint_path(self) -> str | None:
        """Return None: the environment has the directory of savepoints."""
        return None

    def get_min_file_size_threshold(self) -> int:
        """Return the size in bytes from which a state has its own file."""
        return 20480 if self._threshold < 0 else self._threshold

    def get_write_buffer_size(self) -> int:
        """Return the size of the write buffer in bytes."""
        return 4096 if self._write_buffer_size < 0 else self._write_buffer_size

    def __str__(self) -> str:
        return f"FileSystemCheckpointStorage (checkpoints to {self._path})"


class CustomCheckpointStorage(CheckpointStorage):
    """PyFlink's wrapper of a storage written in Java. Raises NoJvmError.

    >>> CustomCheckpointStorage(None)
    Traceback (most recent call last):
    ...
    headrace.errors.NoJvmError: A checkpoint storage written in Java cannot run in headrace [NO_JVM]
      remedy:   use FileSystemCheckpointStorage or JobManagerCheckpointStorage
    """

    def __init__(self, j_custom_checkpoint_storage: object) -> None:
        """Raise NoJvmError: there is no Flink JVM."""
        _refuse_java(type(self))


def _refuse_java(given: object) -> None:
    if given is not None:
        raise NoJvmError(
            "A checkpoint storage written in Java cannot run in headrace",
            remedy="use FileSystemCheckpointStorage or JobManagerCheckpointStorage",
        )


def normalized_path(path: str, what: str) -> str:
    """Return the address of a directory like Flink shows it; the scheme is required.

    >>> normalized_path("file:///tmp/checkpoints/", "x"), normalized_path("hdfs://host:1/a", "x")
    ('file:/tmp/checkpoints', 'hdfs://host:1/a')
    """
    address = urlsplit(path)
    if not address.scheme:
        raise InvalidProgramError(
            "The scheme (hdfs://, file://, etc) is null. Please specify the file system scheme explicitly in the URI.",
            seen=path,
            expected=f"{what} such as file:///var/checkpoints",
        )
    host = f"//{address.netloc}" if address.netloc else ""
    folder = address.path.rstrip("/") or "/"
    if folder == "/" and not address.netloc:
        raise InvalidProgramError("Cannot use the root directory for checkpoints.", seen=path)
    return f"{address.scheme}:{host}{folder}"
