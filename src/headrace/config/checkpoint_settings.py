"""Settings of checkpoints, savepoints and restores, read from `checkpoint_keys`."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.config import checkpoint_keys as keys
from headrace.config.configuration import Configuration, value_of
from headrace.config.headrace_keys import JOB_ID, TRUST
from headrace.errors import ConfigurationError


@dataclass(frozen=True)
class CheckpointSettings:
    """When checkpoints are taken, in milliseconds. `interval` None: only on request.

    Flink's rules apply: the interval is never shorter than the pause, and a pause allows only one checkpoint at a time.

    >>> settings = CheckpointSettings(interval=1000, min_pause=3000, max_concurrent=2)
    >>> settings.effective_interval, settings.effective_concurrent
    (3000, 1)
    """

    interval: int | None = None
    min_pause: int = 0
    max_concurrent: int = 1
    timeout: int = 600_000
    tolerable_failures: int = 0
    retained: int = 1

    def __post_init__(self) -> None:
        """Reject values that `CheckpointConfig` rejects."""
        wrong = [
            name
            for name, value, least in (
                ("interval", 1 if self.interval is None else self.interval, 1),
                ("min_pause", self.min_pause, 0),
                ("max_concurrent", self.max_concurrent, 1),
                ("timeout", self.timeout, 1),
                ("tolerable_failures", self.tolerable_failures, 0),
                ("retained", self.retained, 1),
            )
            if value < least
        ]
        if wrong:
            raise ConfigurationError(f"Checkpoint setting {wrong[0]} is too small", seen=getattr(self, wrong[0]))

    @property
    def effective_interval(self) -> int | None:
        """Return the time between the starts of two checkpoints."""
        return None if self.interval is None else max(self.interval, self.min_pause)

    @property
    def effective_concurrent(self) -> int:
        """Return how many checkpoints may run at the same time."""
        return 1 if self.min_pause > 0 else self.max_concurrent


@dataclass(frozen=True)
class DurabilitySettings:
    """Where and when state is saved, and what a job is restored from."""

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
        """Return whether checkpoints are taken periodically."""
        return self.settings.interval is not None


def read_durability_settings(configuration: Configuration) -> DurabilitySettings:
    """Read and check the keys.

    >>> read_durability_settings(Configuration()).periodic
    False
    """
    interval = configuration.get(keys.CHECKPOINT_INTERVAL)
    value_of(configuration, keys.CHECKPOINT_MODE)  # checked only: exactly once satisfies at least once
    retention = value_of(configuration, keys.CHECKPOINT_RETENTION)
    claim_mode = value_of(configuration, keys.RESTORE_CLAIM_MODE)
    job_id = configuration.get(JOB_ID)
    directory = configuration.get(keys.CHECKPOINT_DIRECTORY)
    _check_storage(configuration, directory)
    if job_id is not None and directory is None:
        raise ConfigurationError(
            f"{JOB_ID.key} needs a checkpoint directory, in which the job is found again",
            seen=job_id,
            remedy=f"set {keys.CHECKPOINT_DIRECTORY.key}",
        )
    if job_id is not None and (not job_id or not all(c.isalnum() or c in "-_" for c in job_id)):
        raise ConfigurationError(f"{JOB_ID.key} names a folder", seen=job_id, expected="letters, digits, - and _")
    return DurabilitySettings(
        settings=CheckpointSettings(
            interval=interval.to_millis() if interval is not None and interval.to_millis() > 0 else None,
            min_pause=value_of(configuration, keys.CHECKPOINT_MIN_PAUSE).to_millis(),
            max_concurrent=value_of(configuration, keys.CHECKPOINT_MAX_CONCURRENT),
            timeout=value_of(configuration, keys.CHECKPOINT_TIMEOUT).to_millis(),
            tolerable_failures=value_of(configuration, keys.CHECKPOINT_TOLERABLE_FAILURES),
            retained=value_of(configuration, keys.RETAINED_CHECKPOINTS),
        ),
        directory=directory,
        savepoint_directory=configuration.get(keys.SAVEPOINT_DIRECTORY),
        job_id=job_id,
        keep_on_cancel=retention == "RETAIN_ON_CANCELLATION",
        keep_on_failure=retention != "NO_EXTERNALIZED_CHECKPOINTS" or job_id is not None,
        restore_path=configuration.get(keys.RESTORE_PATH),
        ignore_unclaimed=value_of(configuration, keys.RESTORE_IGNORE_UNCLAIMED),
        claim=claim_mode == "CLAIM",
        trust=value_of(configuration, TRUST),
    )


def _check_storage(configuration: Configuration, directory: str | None) -> None:
    storage = configuration.get(keys.CHECKPOINT_STORAGE)
    if storage == "filesystem" and directory is None:
        raise ConfigurationError(
            "Checkpoint storage filesystem needs a directory", remedy=f"set {keys.CHECKPOINT_DIRECTORY.key}"
        )
    if not value_of(configuration, keys.CHECKPOINT_SUBFOLDER):
        raise ConfigurationError(
            f"{keys.CHECKPOINT_SUBFOLDER.key} cannot be false: each job needs its own folder, in which the drivers of the "
            "job find each other",
            remedy="remove the key",
        )
