"""The configuration options that the environment writes and reads: Flink's keys and defaults, old keys as fallback.

Decides keys, types and defaults. The environment's calls and a configuration file or ``-D`` mean the same values.
"""

from __future__ import annotations

from typing import TypeVar

from headrace.common.config_options import ConfigOption, ConfigOptions
from headrace.common.configuration import Configuration
from headrace.common.time import Duration

__all__ = ["value_of"]

T = TypeVar("T")
_key = ConfigOptions.key

PARALLELISM = _key("parallelism.default").int_type().no_default_value()
MAX_PARALLELISM = _key("pipeline.max-parallelism").int_type().default_value(-1)
RUNTIME_MODE = _key("execution.runtime-mode").string_type().default_value("STREAMING")
BUFFER_TIMEOUT = (
    _key("execution.buffer-timeout.interval")
    .duration_type()
    .default_value(Duration.of_millis(100))
    .with_fallback_keys("execution.buffer-timeout")
)
CHAINING = (
    _key("pipeline.operator-chaining.enabled")
    .boolean_type()
    .default_value(True)
    .with_fallback_keys("pipeline.operator-chaining")
)
CHAINING_ACROSS_MAX_PARALLELISM = (
    _key("pipeline.operator-chaining.chain-operators-with-different-max-parallelism").boolean_type().default_value(True)
)
PRE_AGGREGATE = _key("headrace.windows.pre-aggregate").boolean_type().default_value(True)
JOB_NAME = _key("pipeline.name").string_type().default_value("Flink Streaming Job")
TIME_CHARACTERISTIC = _key("pipeline.time-characteristic").string_type().default_value("EventTime")
CACHED_FILES = _key("pipeline.cached-files").list_type().default_value([])

PYTHON_FILES = _key("python.files").string_type().default_value("")
PYTHON_REQUIREMENTS = _key("python.requirements").string_type().no_default_value()
PYTHON_ARCHIVES = _key("python.archives").string_type().default_value("")
PYTHON_EXECUTABLE = _key("python.executable").string_type().no_default_value()

STATE_BACKEND = _key("state.backend.type").string_type().no_default_value().with_fallback_keys("state.backend")
CHANGELOG = (
    _key("state.changelog.enabled")
    .boolean_type()
    .no_default_value()
    .with_fallback_keys("state.backend.changelog.enabled")
)

_CHECKPOINTING = "execution.checkpointing."
CHECKPOINT_INTERVAL = _key(_CHECKPOINTING + "interval").duration_type().no_default_value()
CHECKPOINT_MODE = _key(_CHECKPOINTING + "mode").string_type().default_value("EXACTLY_ONCE")
CHECKPOINT_TIMEOUT = _key(_CHECKPOINTING + "timeout").duration_type().default_value(Duration.of_minutes(10))
CHECKPOINT_MIN_PAUSE = _key(_CHECKPOINTING + "min-pause").duration_type().default_value(Duration.of_millis(0))
CHECKPOINT_MAX_CONCURRENT = _key(_CHECKPOINTING + "max-concurrent-checkpoints").int_type().default_value(1)
CHECKPOINT_TOLERABLE_FAILURES = _key(_CHECKPOINTING + "tolerable-failed-checkpoints").int_type().default_value(0)
CHECKPOINT_PREFERRED = _key(_CHECKPOINTING + "prefer-checkpoint-for-recovery").boolean_type().default_value(False)
CHECKPOINT_RETENTION = (
    _key(_CHECKPOINTING + "externalized-checkpoint-retention")
    .string_type()
    .default_value("NO_EXTERNALIZED_CHECKPOINTS")
)
CHECKPOINT_UNALIGNED = (
    _key(_CHECKPOINTING + "unaligned.enabled")
    .boolean_type()
    .default_value(False)
    .with_fallback_keys(_CHECKPOINTING + "unaligned")
)
CHECKPOINT_FORCE_UNALIGNED = _key(_CHECKPOINTING + "unaligned.forced").boolean_type().default_value(False)
CHECKPOINT_ALIGNED_TIMEOUT = (
    _key(_CHECKPOINTING + "aligned-checkpoint-timeout")
    .duration_type()
    .default_value(Duration.of_millis(0))
    .with_fallback_keys(_CHECKPOINTING + "alignment-timeout")
)
CHECKPOINT_STORAGE = (
    _key(_CHECKPOINTING + "storage").string_type().no_default_value().with_fallback_keys("state.checkpoint-storage")
)
CHECKPOINT_DIRECTORY = (
    _key(_CHECKPOINTING + "dir").string_type().no_default_value().with_fallback_keys("state.checkpoints.dir")
)
SAVEPOINT_DIRECTORY = (
    _key(_CHECKPOINTING + "savepoint-dir").string_type().no_default_value().with_fallback_keys("state.savepoints.dir")
)


def value_of(configuration: Configuration, option: ConfigOption[T]) -> T:
    """Give the value of an option that has a default.

    >>> value_of(Configuration(), CHECKPOINT_TIMEOUT).to_millis()
    600000
    """
    value = configuration.get(option)
    assert value is not None, f"{option.key} has no default"
    return value
