"""The configuration keys that the runtime reads, with their defaults. One place, so that the docs can list them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from headrace.common.config_options import ConfigOptions
from headrace.common.configuration import Configuration
from headrace.common.errors import ConfigurationError
from headrace.runtime.checkpoint_options import DurabilityOptions, read_durability

EXECUTOR = "headrace.executor"
EPOCH_TARGET = "headrace.epoch.target-ms"
BOUNDED_EPOCH_TARGET = "headrace.epoch.bounded-target-ms"
FIRST_EPOCH_RECORDS = "headrace.epoch.first-records"
MAX_EPOCH_RECORDS = "headrace.epoch.max-records"
IDLE_POLL = "headrace.epoch.idle-poll-ms"
WATERMARK_RECORDS = "headrace.watermark.interval-records"
STATE_DIRECTORY = "headrace.state.directory"
SPARK_MASTER = "spark.master"
PROGRESS = "headrace.progress"
RESCALE_FILE = "headrace.rescale.file"
TESTING_CLOCK = "headrace.testing.clock"
_JOB_PARAMETERS = ConfigOptions.key("pipeline.global-job-parameters").map_type().no_default_value()
_PYTHON_EXECUTABLE = ConfigOptions.key("python.executable").string_type().no_default_value()


@dataclass(frozen=True)
class RuntimeOptions:
    """What the epoch loop and the executors are told."""

    executor: str = "spark"
    epoch_target: float = 1.0
    bounded_epoch_target: float = 4.0
    first_records: int = 5_000
    max_records: int = 1_000_000
    idle_poll: float = 0.05
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


def read_options(configuration: Configuration) -> RuntimeOptions:
    """Reads and checks the runtime's keys.

    >>> read_options(Configuration()).executor in ("spark", "local")
    True
    """
    values = configuration.to_dict()
    options = RuntimeOptions(
        executor=values.get(EXECUTOR, os.environ.get("HEADRACE_EXECUTOR", "spark")),
        epoch_target=_number(values, EPOCH_TARGET, 1000) / 1000,
        bounded_epoch_target=_number(values, BOUNDED_EPOCH_TARGET, 4000) / 1000,
        first_records=int(_number(values, FIRST_EPOCH_RECORDS, 5_000)),
        max_records=int(_number(values, MAX_EPOCH_RECORDS, 1_000_000)),
        idle_poll=_number(values, IDLE_POLL, 50) / 1000,
        watermark_records=int(_number(values, WATERMARK_RECORDS, 1000)),
        state_directory=values.get(STATE_DIRECTORY),
        progress=values.get(PROGRESS, "auto"),
        rescale_file=values.get(RESCALE_FILE),
        testing_clock=_milliseconds(values, TESTING_CLOCK),
        durability=read_durability(configuration),
        python=configuration.get(_PYTHON_EXECUTABLE),
        spark={k: str(v) for k, v in values.items() if k.startswith("spark.")},
        job_parameters=configuration.get(_JOB_PARAMETERS) or {},
        configuration={key: str(value) for key, value in values.items()},
    )
    if options.executor not in ("spark", "local"):
        raise ConfigurationError(f"{EXECUTOR} names no executor", seen=options.executor, expected="spark or local")
    return options


def _number(values: dict[str, Any], key: str, default: float) -> float:
    raw = values.get(key, default)
    try:
        number = float(raw)
    except ValueError as error:
        raise ConfigurationError(f"{key} is not a number", seen=raw) from error
    if number <= 0:
        raise ConfigurationError(f"{key} must be greater than 0", seen=raw)
    return number


def _milliseconds(values: dict[str, Any], key: str) -> int | None:
    raw = values.get(key)
    if raw is None:
        return None
    try:
        return int(raw)
    except ValueError as error:
        raise ConfigurationError(f"{key} is not a whole number of milliseconds", seen=raw) from error
