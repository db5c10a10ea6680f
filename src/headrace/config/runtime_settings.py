"""The configuration keys that the runtime reads, with their defaults. One place, so that the docs can list them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from headrace.config import headrace_keys as keys
from headrace.config.checkpoint_keys import CHECKPOINT_TIMEOUT
from headrace.config.checkpoint_settings import DurabilityOptions, read_durability
from headrace.config.config_options import ConfigOption, ConfigOptions
from headrace.config.configuration import Configuration
from headrace.config.job_file_keys import PYTHON_EXECUTABLE
from headrace.config.known_options import check_options
from headrace.config.worker_settings import LatencySettings, TimeLimit
from headrace.errors import ConfigurationError

_JOB_PARAMETERS = ConfigOptions.key("pipeline.global-job-parameters").map_type().no_default_value()
_LATENCY_INTERVAL = ConfigOptions.key("metrics.latency.interval").duration_type().no_default_value()
_LONGEST_LIMIT = 7 * 24 * 3600.0
_GRANULARITIES = ("single", "operator", "subtask")


@dataclass(frozen=True)
class RuntimeOptions:
    """What the epoch loop and the executors are told."""

    executor: str = "spark"
    epoch_target: float = 1.0
    bounded_epoch_target: float = 4.0
    first_records: int = 5_000
    max_records: int = 1_000_000
    idle_poll: float = 0.05
    task_timeout: float | None = None
    """Seconds that a task may work in one epoch; None: for ever."""
    watermark_records: int = 1000
    state_directory: str | None = None
    progress: str = "auto"
    rescale_file: str | None = None
    """A configuration file whose `parallelism.default` a running job follows."""
    testing_clock: int | None = None
    """The processing time to start with, in milliseconds, if it shall move only by events of the test kit."""
    durability: DurabilityOptions = field(default_factory=lambda: read_durability(Configuration()))
    python: str | None = None
    """The interpreter that functions run in, if the program asks for one of its own."""
    spark: dict[str, str] = field(default_factory=dict)
    job_parameters: dict[str, str] = field(default_factory=dict)
    configuration: dict[str, str] = field(default_factory=dict)
    """All keys that the program set."""

    def time_limit(self, with_checkpoint: bool) -> TimeLimit | None:
        """How long a task may take in an epoch, at whose end there may be a checkpoint.

        Flink gives up a checkpoint that is not done in time, and the job when more were given up than are tolerated: so a
        task that keeps one waiting for as long as that takes must not go on.
        """
        limits = [] if self.task_timeout is None else [TimeLimit(self.task_timeout, keys.TASK_TIMEOUT.key)]
        settings = self.durability.settings
        seconds = settings.timeout / 1000 * (settings.tolerable_failures + 1)
        if with_checkpoint and self.durability.periodic and seconds < _LONGEST_LIMIT:
            limits.append(TimeLimit(seconds, CHECKPOINT_TIMEOUT.key))
        return min(limits, default=None)


def read_options(configuration: Configuration) -> RuntimeOptions:
    """Reads and checks the runtime's keys.

    >>> read_options(Configuration()).executor in ("spark", "local")
    True
    """
    check_options(configuration.to_dict())
    options = RuntimeOptions(
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
        durability=read_durability(configuration),
        python=configuration.get(PYTHON_EXECUTABLE),
        spark={k: str(v) for k, v in configuration.to_dict().items() if k.startswith("spark.")},
        job_parameters=configuration.get(_JOB_PARAMETERS) or {},
        configuration={key: str(value) for key, value in configuration.to_dict().items()},
    )
    if options.executor not in ("spark", "local"):
        raise ConfigurationError(
            f"{keys.EXECUTOR.key} names no executor", seen=options.executor, expected="spark or local"
        )
    return options


def read_latency_settings(configuration: Configuration) -> LatencySettings:
    """How latency is to be measured.

    >>> read_latency_settings(Configuration().set_string("metrics.latency.interval", "2 s")).interval_ms
    2000
    """
    interval = configuration.get(_LATENCY_INTERVAL)
    granularity = configuration.get_string("metrics.latency.granularity", "operator")
    if granularity not in _GRANULARITIES:
        raise ConfigurationError(
            "metrics.latency.granularity is unknown", seen=granularity, expected=", ".join(_GRANULARITIES)
        )
    return LatencySettings(0 if interval is None else max(0, interval.to_millis()), granularity)


def _task_timeout(configuration: Configuration) -> float | None:
    timeout = configuration.get(keys.TASK_TIMEOUT)
    if timeout is None:
        return None
    if timeout.to_millis() <= 0:
        raise ConfigurationError(
            f"{keys.TASK_TIMEOUT.key} must be longer than 0", seen=timeout, remedy="leave it out for no limit"
        )
    return timeout.to_millis() / 1000


def _positive(configuration: Configuration, option: ConfigOption[float]) -> float:
    number = configuration.get(option)
    assert number is not None  # the option has a default
    if not number > 0:
        raise ConfigurationError(f"{option.key} must be greater than 0", seen=number)
    return number
