"""Settings of the driver and the executors, of latency tracking and of keyed state."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from headrace.config import checkpoint_keys, pipeline_keys
from headrace.config import headrace_keys as keys
from headrace.config.checkpoint_settings import DurabilitySettings, read_durability_settings
from headrace.config.config_options import ConfigOption
from headrace.config.configuration import Configuration, value_of
from headrace.config.known_keys import check_options
from headrace.config.pipeline_keys import PYTHON_EXECUTABLE
from headrace.config.worker_settings import DEFAULT_MEMORY, BackendSettings, LatencySettings, TimeLimit
from headrace.errors import ConfigurationError
from headrace.foundation.extras import require_rocksdict

_LONGEST_LIMIT = 7 * 24 * 3600.0
_LEAST_MEMORY = 1 << 20
_GRANULARITIES = ("single", "operator", "subtask")


@dataclass(frozen=True)
class RuntimeSettings:
    """Settings of the driver loop and the executors."""

    executor: str = "spark"
    epoch_target: float = 1.0
    bounded_epoch_target: float = 4.0
    first_records: int = 5_000
    max_records: int = 1_000_000
    idle_poll: float = 0.05
    task_timeout: float | None = None
    """Seconds that a task may work in one epoch; None: no limit."""
    watermark_records: int = 1000
    state_directory: str | None = None
    progress: str = "auto"
    rescale_file: str | None = None
    """A configuration file whose `parallelism.default` a running job follows."""
    testing_clock: int | None = None
    """The processing time to start with, in milliseconds, if only events of the test kit may advance it."""
    durability: DurabilitySettings = field(default_factory=lambda: read_durability_settings(Configuration()))
    python: str | None = None
    """The interpreter that runs functions, if the program asks for another one."""
    spark: dict[str, str] = field(default_factory=dict)
    job_parameters: dict[str, str] = field(default_factory=dict)
    configuration: dict[str, str] = field(default_factory=dict)
    """All keys that are set."""

    def time_limit(self, with_checkpoint: bool) -> TimeLimit | None:
        """Return how long a task may take in an epoch, which may end with a checkpoint.

        Flink aborts a checkpoint that exceeds its timeout, and fails the job when more were aborted than are tolerated.
        So a task must not delay a checkpoint for longer than all of these timeouts together.
        """
        limits = [] if self.task_timeout is None else [TimeLimit(self.task_timeout, keys.TASK_TIMEOUT.key)]
        settings = self.durability.settings
        seconds = settings.timeout / 1000 * (settings.tolerable_failures + 1)
        if with_checkpoint and self.durability.periodic and seconds < _LONGEST_LIMIT:
            limits.append(TimeLimit(seconds, checkpoint_keys.CHECKPOINT_TIMEOUT.key))
        return min(limits, default=None)


def read_runtime_settings(configuration: Configuration) -> RuntimeSettings:
    """Read and check the keys of the runtime.

    >>> read_runtime_settings(Configuration()).executor in ("spark", "local")
    True
    """
    check_options(configuration.to_dict())
    settings = RuntimeSettings(
        executor=configuration.get(keys.EXECUTOR, os.environ.get("HEADRACE_EXECUTOR")) or "spark",
        epoch_target=_positive(configuration, keys.EPOCH_TARGET) / 1000,
        bounded_epoch_target=_positive(configuration, keys.BOUNDED_EPOCH_TARGET) / 1000,
        first_records=int(_positive(configuration, keys.FIRST_EPOCH_RECORDS)),
        max_records=int(_positive(configuration, keys.MAX_EPOCH_RECORDS)),
        idle_poll=_positive(configuration, keys.IDLE_POLL) / 1000,
        task_timeout=_task_timeout(configuration),
        watermark_records=int(_positive(configuration, keys.WATERMARK_RECORDS)),
        state_directory=configuration.get(keys.STATE_DIRECTORY),
        progress=configuration.get(keys.PROGRESS) or "auto",
        rescale_file=configuration.get(keys.RESCALE_FILE),
        testing_clock=configuration.get(keys.TESTING_CLOCK),
        durability=read_durability_settings(configuration),
        python=configuration.get(PYTHON_EXECUTABLE),
        spark={k: str(v) for k, v in configuration.to_dict().items() if k.startswith("spark.")},
        job_parameters=value_of(configuration, pipeline_keys.JOB_PARAMETERS),
        configuration={key: str(value) for key, value in configuration.to_dict().items()},
    )
    if settings.executor not in ("spark", "local"):
        raise ConfigurationError(
            f"{keys.EXECUTOR.key} is not a known executor", seen=settings.executor, expected="spark or local"
        )
    return settings


def read_latency_settings(configuration: Configuration) -> LatencySettings:
    """Read how latency is measured.

    >>> read_latency_settings(Configuration().set_string("metrics.latency.interval", "2 s")).interval_ms
    2000
    """
    interval = value_of(configuration, pipeline_keys.LATENCY_INTERVAL)
    granularity = value_of(configuration, pipeline_keys.LATENCY_GRANULARITY)
    if granularity not in _GRANULARITIES:
        raise ConfigurationError(
            f"{pipeline_keys.LATENCY_GRANULARITY.key} is unknown", seen=granularity, expected=", ".join(_GRANULARITIES)
        )
    return LatencySettings(max(0, interval.to_millis()), granularity)


def read_backend_settings(configuration: Configuration) -> BackendSettings:
    """Return the settings of keyed state. Raise if the disk backend cannot run here.

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


def _task_timeout(configuration: Configuration) -> float | None:
    timeout = configuration.get(keys.TASK_TIMEOUT)
    if timeout is None:
        return None
    if timeout.to_millis() <= 0:
        raise ConfigurationError(
            f"{keys.TASK_TIMEOUT.key} must be longer than 0", seen=timeout, remedy="remove the key for no limit"
        )
    return timeout.to_millis() / 1000


def _positive(configuration: Configuration, option: ConfigOption[float]) -> float:
    number = value_of(configuration, option)
    if not number > 0:
        raise ConfigurationError(f"{option.key} must be greater than 0", seen=number)
    return number
