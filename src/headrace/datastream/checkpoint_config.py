"""CheckpointConfig: when and how checkpoints are taken.

Checks the values and stores them in the environment's `Configuration` under Flink's keys, which the runtime reads.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, TypeVar

from headrace.compatibility.ignored_settings import warn_without_effect
from headrace.compatibility.names import offer_pyflink_names
from headrace.compatibility.no_jvm_object import NoJvmObject
from headrace.config import checkpoint_keys as keys
from headrace.config.config_options import ConfigOption
from headrace.config.configuration import Configuration, value_of
from headrace.datastream.checkpoint_storage import CheckpointStorage, FileSystemCheckpointStorage
from headrace.datastream.checkpointing_mode import CheckpointingMode
from headrace.datastream.externalized_checkpoint_retention import ExternalizedCheckpointRetention
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.types.time import Duration, millis_of

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["CheckpointConfig", "ExternalizedCheckpointCleanup"]
offer_pyflink_names(__name__)

T = TypeVar("T")
_MINIMUM_MS = 10


class ExternalizedCheckpointCleanup(Enum):
    """The old name of ExternalizedCheckpointRetention.

    >>> ExternalizedCheckpointCleanup.RETAIN_ON_CANCELLATION.value
    1
    """

    DELETE_ON_CANCELLATION = 0
    RETAIN_ON_CANCELLATION = 1
    NO_EXTERNALIZED_CHECKPOINTS = 2


class CheckpointConfig(NoJvmObject):
    """The settings of checkpoints.

    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment().enable_checkpointing(5000)
    >>> config = env.get_checkpoint_config().set_checkpoint_timeout(60_000)
    >>> config.get_checkpoint_interval(), config.get_checkpointing_mode().name
    (5000, 'EXACTLY_ONCE')
    """

    DEFAULT_MODE = CheckpointingMode.EXACTLY_ONCE
    DEFAULT_TIMEOUT = 10 * 60 * 1000
    DEFAULT_MIN_PAUSE_BETWEEN_CHECKPOINTS = 0
    DEFAULT_MAX_CONCURRENT_CHECKPOINTS = 1

    def __init__(self, configuration: Configuration) -> None:
        """Programs call `StreamExecutionEnvironment.get_checkpoint_config`."""
        self._configuration = configuration
        self._storage: CheckpointStorage | None = None

    def _set(self, option: ConfigOption[T], value: T) -> Self:
        self._configuration.set(option, value)
        return self

    def _millis(self, option: ConfigOption[Duration]) -> int:
        return value_of(self._configuration, option).to_millis()

    def is_checkpointing_enabled(self) -> bool:
        """Return whether checkpoints are taken."""
        return self.get_checkpoint_interval() > 0

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """Return the guarantee; AT_LEAST_ONCE without checkpoints, as in Flink."""
        if not self.is_checkpointing_enabled():
            return CheckpointingMode.AT_LEAST_ONCE
        return CheckpointingMode[value_of(self._configuration, keys.CHECKPOINT_MODE)]

    def set_checkpointing_mode(self, checkpointing_mode: CheckpointingMode) -> Self:
        """Set the guarantee."""
        if not isinstance(checkpointing_mode, CheckpointingMode):
            raise TypeMismatchError("set_checkpointing_mode takes a CheckpointingMode", seen=checkpointing_mode)
        return self._set(keys.CHECKPOINT_MODE, checkpointing_mode.name)

    def get_checkpoint_interval(self) -> int:
        """Return the time between the starts of two checkpoints in milliseconds, or -1 without checkpoints."""
        interval = self._configuration.get(keys.CHECKPOINT_INTERVAL)
        return -1 if interval is None else interval.to_millis()

    def set_checkpoint_interval(self, checkpoint_interval: int) -> Self:
        """Set the time between the starts of two checkpoints in milliseconds."""
        _check_span(checkpoint_interval, "Checkpoint interval")
        return self._set(keys.CHECKPOINT_INTERVAL, Duration.of_millis(checkpoint_interval))

    def get_checkpoint_timeout(self) -> int:
        """Return the time in milliseconds after which a checkpoint is aborted."""
        return self._millis(keys.CHECKPOINT_TIMEOUT)

    def set_checkpoint_timeout(self, checkpoint_timeout: int) -> Self:
        """Set the time in milliseconds after which a checkpoint is aborted."""
        _check_span(checkpoint_timeout, "Checkpoint timeout")
        return self._set(keys.CHECKPOINT_TIMEOUT, Duration.of_millis(checkpoint_timeout))

    def get_min_pause_between_checkpoints(self) -> int:
        """Return the minimum time in milliseconds between the end of a checkpoint and the start of the next."""
        return self._millis(keys.CHECKPOINT_MIN_PAUSE)

    def set_min_pause_between_checkpoints(self, min_pause_between_checkpoints: int) -> Self:
        """Set the minimum time in milliseconds between the end of a checkpoint and the start of the next."""
        _check(
            min_pause_between_checkpoints >= 0, "Pause value must be zero or positive", min_pause_between_checkpoints
        )
        return self._set(keys.CHECKPOINT_MIN_PAUSE, Duration.of_millis(min_pause_between_checkpoints))

    def get_max_concurrent_checkpoints(self) -> int:
        """Return how many checkpoints may run at the same time."""
        return value_of(self._configuration, keys.CHECKPOINT_MAX_CONCURRENT)

    def set_max_concurrent_checkpoints(self, max_concurrent_checkpoints: int) -> Self:
        """Set how many checkpoints may run at the same time."""
        _check(
            max_concurrent_checkpoints >= 1,
            "The maximum number of concurrent attempts must be at least one.",
            max_concurrent_checkpoints,
        )
        return self._set(keys.CHECKPOINT_MAX_CONCURRENT, max_concurrent_checkpoints)

    def is_fail_on_checkpointing_errors(self) -> bool:
        """Return whether a failed checkpoint fails the job."""
        return self.get_tolerable_checkpoint_failure_number() == 0

    def set_fail_on_checkpointing_errors(self, fail_on_checkpointing_errors: bool) -> Self:
        """Set whether a failed checkpoint fails the job."""
        return self.set_tolerable_checkpoint_failure_number(0 if fail_on_checkpointing_errors else 2**31 - 1)

    def is_prefer_checkpoint_for_recovery(self) -> bool:
        """Return whether recovery uses the last checkpoint even if there is a later savepoint."""
        return value_of(self._configuration, keys.CHECKPOINT_PREFERRED)

    def set_prefer_checkpoint_for_recovery(self, prefer_checkpoint_for_recovery: bool) -> Self:
        """Set whether recovery uses the last checkpoint even if there is a later savepoint."""
        return self._set(keys.CHECKPOINT_PREFERRED, bool(prefer_checkpoint_for_recovery))

    def get_tolerable_checkpoint_failure_number(self) -> int:
        """Return how many consecutive checkpoints may fail before the job fails."""
        return value_of(self._configuration, keys.CHECKPOINT_TOLERABLE_FAILURES)

    def set_tolerable_checkpoint_failure_number(self, tolerable_checkpoint_failure_number: int) -> Self:
        """Set how many consecutive checkpoints may fail before the job fails."""
        _check(
            tolerable_checkpoint_failure_number >= 0,
            "The tolerable failure checkpoint number must be non-negative.",
            tolerable_checkpoint_failure_number,
        )
        return self._set(keys.CHECKPOINT_TOLERABLE_FAILURES, tolerable_checkpoint_failure_number)

    def set_externalized_checkpoint_retention(self, retention_mode: ExternalizedCheckpointRetention) -> Self:
        """Set what happens to the checkpoints of a cancelled job."""
        if not isinstance(retention_mode, (ExternalizedCheckpointRetention, ExternalizedCheckpointCleanup)):
            raise TypeMismatchError(
                "set_externalized_checkpoint_retention takes an ExternalizedCheckpointRetention", seen=retention_mode
            )
        return self._set(keys.CHECKPOINT_RETENTION, retention_mode.name)

    def get_externalized_checkpoint_retention(self) -> ExternalizedCheckpointRetention:
        """Return what happens to the checkpoints of a cancelled job."""
        name = value_of(self._configuration, keys.CHECKPOINT_RETENTION)
        return ExternalizedCheckpointRetention[name]

    def is_externalized_checkpoints_enabled(self) -> bool:
        """Return whether checkpoints can be kept after the job."""
        return (
            self.get_externalized_checkpoint_retention()
            is not ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS
        )

    def enable_externalized_checkpoints(self, cleanup_mode: ExternalizedCheckpointCleanup) -> Self:
        """Set the retention, by its old name."""
        return self.set_externalized_checkpoint_cleanup(cleanup_mode)

    def set_externalized_checkpoint_cleanup(self, cleanup_mode: ExternalizedCheckpointCleanup) -> Self:
        """Set the retention, by its old name."""
        if not isinstance(cleanup_mode, ExternalizedCheckpointCleanup):
            raise TypeMismatchError("The cleanup mode must be an ExternalizedCheckpointCleanup", seen=cleanup_mode)
        return self.set_externalized_checkpoint_retention(ExternalizedCheckpointRetention[cleanup_mode.name])

    def get_externalized_checkpoint_cleanup(self) -> ExternalizedCheckpointCleanup | None:
        """Return the retention, by its old name, or None if it was never set."""
        if not self._configuration.contains_key(keys.CHECKPOINT_RETENTION.key):
            return None
        return ExternalizedCheckpointCleanup[self.get_externalized_checkpoint_retention().name]

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """Return whether checkpoints may overtake records in flight."""
        return value_of(self._configuration, keys.CHECKPOINT_UNALIGNED)

    def enable_unaligned_checkpoints(self, enabled: bool = True) -> Self:
        """Store whether checkpoints may overtake records; no effect, because no records are in flight when an epoch ends."""
        if enabled:
            warn_without_effect("enable_unaligned_checkpoints")
        return self._set(keys.CHECKPOINT_UNALIGNED, enabled)

    def disable_unaligned_checkpoints(self) -> Self:
        """Undo `enable_unaligned_checkpoints`."""
        return self.enable_unaligned_checkpoints(False)

    def set_aligned_checkpoint_timeout(self, alignment_timeout: Duration) -> Self:
        """Set the time after which an aligned checkpoint continues unaligned."""
        millis = millis_of(alignment_timeout, "set_aligned_checkpoint_timeout")
        warn_without_effect("set_aligned_checkpoint_timeout")
        return self._set(keys.CHECKPOINT_ALIGNED_TIMEOUT, Duration.of_millis(millis))

    def get_aligned_checkpoint_timeout(self) -> Duration:
        """Return the time after which an aligned checkpoint continues unaligned."""
        return Duration.of_millis(self._millis(keys.CHECKPOINT_ALIGNED_TIMEOUT))

    def set_alignment_timeout(self, alignment_timeout: Duration) -> Self:
        """Set the aligned checkpoint timeout, by its old name."""
        return self.set_aligned_checkpoint_timeout(alignment_timeout)

    def get_alignment_timeout(self) -> Duration:
        """Return the aligned checkpoint timeout, by its old name."""
        return self.get_aligned_checkpoint_timeout()

    def set_force_unaligned_checkpoints(self, force_unaligned_checkpoints: bool = True) -> Self:
        """Set whether checkpoints are always unaligned."""
        if force_unaligned_checkpoints:
            warn_without_effect("set_force_unaligned_checkpoints")
        return self._set(keys.CHECKPOINT_FORCE_UNALIGNED, force_unaligned_checkpoints)

    def is_force_unaligned_checkpoints(self) -> bool:
        """Return whether checkpoints are always unaligned."""
        return value_of(self._configuration, keys.CHECKPOINT_FORCE_UNALIGNED)

    def set_checkpoint_storage(self, storage: CheckpointStorage) -> Self:
        """Set where checkpoints are written."""
        if not isinstance(storage, CheckpointStorage):
            raise TypeMismatchError("set_checkpoint_storage takes a CheckpointStorage", seen=storage)
        self._storage = storage
        self._configuration.set(keys.CHECKPOINT_STORAGE, storage.option)
        path = storage.get_checkpoint_path()
        if path is not None:
            self._configuration.set(keys.CHECKPOINT_DIRECTORY, path)
        return self

    def set_checkpoint_storage_dir(self, checkpoint_path: str) -> Self:
        """Set the directory of checkpoints."""
        return self.set_checkpoint_storage(FileSystemCheckpointStorage(checkpoint_path))

    def get_checkpoint_storage(self) -> CheckpointStorage | None:
        """Return where checkpoints are written, or None if no call has set it."""
        return self._storage


def _check(holds: bool, message: str, seen: int) -> None:
    if not holds:
        raise InvalidProgramError(message, seen=seen)


def _check_span(millis: int, what: str) -> None:
    _check(millis >= _MINIMUM_MS, f"{what} must be larger than or equal to {_MINIMUM_MS} ms", millis)
