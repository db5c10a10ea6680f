"""What the runtime reads of the configuration about checkpoints, restores and savepoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from headrace.config import checkpoint_keys as keys
from headrace.config.checkpoint_intervals import CheckpointSettings
from headrace.config.config_options import ConfigOption
from headrace.config.configuration import Configuration
from headrace.config.headrace_keys import JOB_ID, TRUST
from headrace.errors import ConfigurationError
from headrace.types.time import Duration

T = TypeVar("T")


@dataclass(frozen=True)
class DurabilityOptions:
    """Where and when state is made durable, and what a job starts from."""

    settings: CheckpointSettings
    directory: str | None = None
    savepoint_directory: str | None = None
    job_id: str | None = None
    keep_on_cancel: bool = False
    keep_on_failure: bool = False
    restore_path: str | None = None
    ignore_unclaimed: bool = False
    claim: bool = False
    trust: bool = False

    @property
    def periodic(self) -> bool:
        """Whether checkpoints are made by themselves."""
        return self.settings.interval is not None


def read_durability(configuration: Configuration) -> DurabilityOptions:
    """Reads and checks the keys.

    >>> read_durability(Configuration()).periodic
    False
    """
    interval = configuration.get(keys.CHECKPOINT_INTERVAL)
    _value(configuration, keys.CHECKPOINT_MODE)  # only its name is checked: exactly once is at least once, too
    retention = _value(configuration, keys.CHECKPOINT_RETENTION)
    claim_mode = _value(configuration, keys.RESTORE_CLAIM_MODE)
    job_id = configuration.get(JOB_ID)
    directory = configuration.get(keys.CHECKPOINT_DIRECTORY)
    _check_storage(configuration, directory)
    if job_id is not None and directory is None:
        raise ConfigurationError(
            f"{JOB_ID.key} needs a checkpoint directory: the job is found again there",
            seen=job_id,
            remedy=f"set {keys.CHECKPOINT_DIRECTORY.key}",
        )
    if job_id is not None and (not job_id or not all(c.isalnum() or c in "-_" for c in job_id)):
        raise ConfigurationError(f"{JOB_ID.key} names a folder", seen=job_id, expected="letters, digits, - and _")
    return DurabilityOptions(
        settings=CheckpointSettings(
            interval=interval.to_millis() if interval is not None and interval.to_millis() > 0 else None,
            min_pause=_millis(configuration, keys.CHECKPOINT_MIN_PAUSE),
            max_concurrent=_value(configuration, keys.CHECKPOINT_MAX_CONCURRENT),
            timeout=_millis(configuration, keys.CHECKPOINT_TIMEOUT),
            tolerable_failures=_value(configuration, keys.CHECKPOINT_TOLERABLE_FAILURES),
            retained=_value(configuration, keys.RETAINED_CHECKPOINTS),
        ),
        directory=directory,
        savepoint_directory=configuration.get(keys.SAVEPOINT_DIRECTORY),
        job_id=job_id,
        keep_on_cancel=retention == "RETAIN_ON_CANCELLATION",
        keep_on_failure=retention != "NO_EXTERNALIZED_CHECKPOINTS" or job_id is not None,
        restore_path=configuration.get(keys.RESTORE_PATH),
        ignore_unclaimed=_value(configuration, keys.RESTORE_IGNORE_UNCLAIMED),
        claim=claim_mode == "CLAIM",
        trust=_value(configuration, TRUST),
    )


def _value(configuration: Configuration, option: ConfigOption[T]) -> T:
    value = configuration.get(option)
    assert value is not None  # the option has a default
    return value


def _check_storage(configuration: Configuration, directory: str | None) -> None:
    storage = configuration.get(keys.CHECKPOINT_STORAGE)
    if storage == "filesystem" and directory is None:
        raise ConfigurationError(
            "Checkpoints into a file system need a directory", remedy=f"set {keys.CHECKPOINT_DIRECTORY.key}"
        )
    if not _value(configuration, keys.CHECKPOINT_SUBFOLDER):
        raise ConfigurationError(
            f"{keys.CHECKPOINT_SUBFOLDER.key} cannot be false: the checkpoints of a job are in a folder of its own, by "
            "which drivers of one job find each other",
            remedy="leave it out",
        )


def _millis(configuration: Configuration, option: ConfigOption[Duration]) -> int:
    return _value(configuration, option).to_millis()
