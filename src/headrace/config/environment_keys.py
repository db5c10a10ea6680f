"""The configuration options that the environment writes and reads: Flink's keys and defaults, old keys as fallback.

Decides keys, types and defaults. The environment's calls and a configuration file or ``-D`` mean the same values.
"""

from __future__ import annotations

from typing import TypeVar

from headrace.config.config_options import ConfigOption, ConfigOptions
from headrace.config.configuration import Configuration
from headrace.types.time import Duration

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
JOB_NAME = _key("pipeline.name").string_type().default_value("Flink Streaming Job")
TIME_CHARACTERISTIC = _key("pipeline.time-characteristic").string_type().default_value("EventTime")


def value_of(configuration: Configuration, option: ConfigOption[T]) -> T:
    """Give the value of an option that has a default.

    >>> value_of(Configuration(), BUFFER_TIMEOUT).to_millis()
    100
    """
    value = configuration.get(option)
    assert value is not None, f"{option.key} has no default"
    return value
