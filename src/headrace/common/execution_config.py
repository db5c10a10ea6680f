"""Settings of a program's execution, with PyFlink's methods.

Decides limits and defaults. What Flink has a key for is kept in a ``Configuration``, so that methods, ``-D`` options
and the configuration file set the same thing. Some settings are kept and have no effect, since there is no JVM code
of the user to serialize: Kryo, Avro and POJO types, the closure cleaner, the execution mode. Made by the environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from headrace.common.execution_mode import ExecutionMode
from headrace.common.input_dependency_constraint import InputDependencyConstraint
from headrace.compatibility.java_objects import NoJava
from headrace.compatibility.names import offer_pyflink_names
from headrace.config.config_options import ConfigOption, ConfigOptions
from headrace.config.configuration import Configuration
from headrace.config.restart_keys import restart_strategy_from
from headrace.config.restart_strategy import RestartStrategies, RestartStrategyConfiguration
from headrace.errors import ConfigurationError
from headrace.types.time import Duration

__all__ = ["ExecutionConfig"]

T = TypeVar("T")


def _flag(key: str, default: bool) -> ConfigOption[bool]:
    return ConfigOptions.key(key).boolean_type().default_value(default)


def _span(key: str, default_ms: int) -> ConfigOption[Duration]:
    return ConfigOptions.key(key).duration_type().default_value(Duration.of_millis(default_ms))


_WATERMARK_INTERVAL = _span("pipeline.auto-watermark-interval", 200)
_LATENCY_INTERVAL = _span("metrics.latency.interval", 0)
_CANCELLATION_INTERVAL = _span("task.cancellation.interval", 30_000)
_CANCELLATION_TIMEOUT = _span("task.cancellation.timeout", 180_000)
_PARALLELISM = ConfigOptions.key("parallelism.default").int_type().default_value(-1)
_MAX_PARALLELISM = ConfigOptions.key("pipeline.max-parallelism").int_type().default_value(-1)
_CLOSURE_CLEANER = ConfigOptions.key("pipeline.closure-cleaner-level").string_type().default_value("RECURSIVE")
_FORCE_KRYO = _flag("pipeline.force-kryo", False)
_FORCE_AVRO = _flag("pipeline.force-avro", False)
_GENERIC_TYPES = _flag("pipeline.generic-types", True)
_AUTO_UIDS = _flag("pipeline.auto-generate-uids", True)
_AUTO_TYPES = _flag("pipeline.auto-type-registration", True)
_OBJECT_REUSE = _flag("pipeline.object-reuse", False)
_COMPRESSION = _flag("execution.checkpointing.snapshot-compression", False)
_JOB_PARAMETERS = ConfigOptions.key("pipeline.global-job-parameters").map_type().default_value({})

_MOST_PARALLELISM = 1 << 15


class ExecutionConfig(NoJava):
    """Settings of a program's execution.

    >>> config = ExecutionConfig().set_parallelism(4).enable_object_reuse()
    >>> config.get_parallelism(), config.is_object_reuse_enabled(), config.get_auto_watermark_interval()
    (4, True, 200)
    """

    PARALLELISM_DEFAULT: ClassVar[int] = -1
    PARALLELISM_UNKNOWN: ClassVar[int] = -2

    def __init__(self, configuration: Configuration | None = None) -> None:
        """Make settings that live in ``configuration``, or in one of their own."""
        self._configuration = Configuration() if configuration is None else configuration
        self._kept: dict[str, Any] = {}

    def _get(self, option: ConfigOption[T]) -> T:
        value = self._configuration.get(option)
        assert value is not None  # the options above have defaults
        return value

    def _set(self, option: ConfigOption[T], value: T) -> ExecutionConfig:
        self._configuration.set(option, value)
        return self

    def _set_span(self, option: ConfigOption[Duration], millis: int, what: str) -> ExecutionConfig:
        span = Duration.of_millis(millis)
        if span.to_nanos() < 0:
            raise ConfigurationError(f"{what} must not be negative", seen=millis)
        return self._set(option, span)

    def _register(self, kind: str, name: str, value: str | None = None) -> None:
        self._kept.setdefault(kind, {})[name] = value

    def _registered(self, kind: str) -> dict[str, Any]:
        return dict(self._kept.get(kind, {}))

    # ---- parallelism and time

    def get_parallelism(self) -> int:
        """Give the parallelism of operators that set none; -1 leaves it to the environment."""
        return self._get(_PARALLELISM)

    def set_parallelism(self, parallelism: int) -> ExecutionConfig:
        """Set the parallelism of operators that set none.

        >>> ExecutionConfig().set_parallelism(0)
        Traceback (most recent call last):
        ...
        headrace.errors.ConfigurationError: The parallelism is out of range [CONFIGURATION]
          seen:     0 (int)
          expected: at least 1, or -1 for the default
        """
        if parallelism == self.PARALLELISM_UNKNOWN:
            return self
        if parallelism < 1 and parallelism != self.PARALLELISM_DEFAULT:
            raise ConfigurationError(
                "The parallelism is out of range", seen=parallelism, expected="at least 1, or -1 for the default"
            )
        return self._set(_PARALLELISM, parallelism)

    def get_max_parallelism(self) -> int:
        """Give the number of key groups, -1 if none is set."""
        return self._get(_MAX_PARALLELISM)

    def set_max_parallelism(self, max_parallelism: int) -> ExecutionConfig:
        """Set the number of key groups, which is the limit for later rescaling."""
        if not 0 < max_parallelism <= _MOST_PARALLELISM:
            raise ConfigurationError(
                "The maximum parallelism is out of range", seen=max_parallelism, expected=f"1 to {_MOST_PARALLELISM}"
            )
        return self._set(_MAX_PARALLELISM, max_parallelism)

    def set_auto_watermark_interval(self, interval: int) -> ExecutionConfig:
        """Set how often watermarks are emitted, in milliseconds."""
        return self._set_span(_WATERMARK_INTERVAL, interval, "The watermark interval")

    def get_auto_watermark_interval(self) -> int:
        """Give how often watermarks are emitted, in milliseconds."""
        return self._get(_WATERMARK_INTERVAL).to_millis()

    def set_latency_tracking_interval(self, interval: int) -> ExecutionConfig:
        """Set how often latency is measured, in milliseconds; 0 or less switches it off."""
        return self._set(_LATENCY_INTERVAL, Duration.of_millis(interval))

    def get_latency_tracking_interval(self) -> int:
        """Give how often latency is measured, in milliseconds."""
        return self._get(_LATENCY_INTERVAL).to_millis()

    def set_task_cancellation_interval(self, interval: int) -> ExecutionConfig:
        """Set the time between attempts to cancel a task, in milliseconds."""
        return self._set_span(_CANCELLATION_INTERVAL, interval, "The cancellation interval")

    def get_task_cancellation_interval(self) -> int:
        """Give the time between attempts to cancel a task, in milliseconds."""
        return self._get(_CANCELLATION_INTERVAL).to_millis()

    def set_task_cancellation_timeout(self, timeout: int) -> ExecutionConfig:
        """Set the time after which a task that is not cancelled counts as lost, in milliseconds; 0 for never."""
        return self._set_span(_CANCELLATION_TIMEOUT, timeout, "The cancellation timeout")

    def get_task_cancellation_timeout(self) -> int:
        """Give the time after which a task that is not cancelled counts as lost, in milliseconds."""
        return self._get(_CANCELLATION_TIMEOUT).to_millis()

    # ---- restart strategy and parameters of the program

    def set_restart_strategy(self, restart_strategy_configuration: RestartStrategyConfiguration) -> ExecutionConfig:
        """Set what is to happen when the job fails."""
        self._kept["restart"] = restart_strategy_configuration
        return self

    def get_restart_strategy(self) -> RestartStrategyConfiguration:
        """Give what was set, or else what the configuration says, or else the fallback."""
        kept = self._kept.get("restart")
        if isinstance(kept, RestartStrategyConfiguration):
            return kept
        return restart_strategy_from(self._configuration) or RestartStrategies.fall_back_restart()

    def set_global_job_parameters(self, global_job_parameters_dict: Mapping[str, Any]) -> ExecutionConfig:
        """Keep parameters of the program, as texts, which its functions can read.

        >>> ExecutionConfig().set_global_job_parameters({"a": 1}).get_global_job_parameters()
        {'a': '1'}
        """
        return self._set(_JOB_PARAMETERS, {key: str(value) for key, value in global_job_parameters_dict.items()})

    def get_global_job_parameters(self) -> dict[str, str]:
        """Give the parameters of the program."""
        parameters = self._get(_JOB_PARAMETERS)
        return dict(parameters)

    # ---- switches

    def enable_object_reuse(self) -> ExecutionConfig:
        """Let operators hand on objects without copying them."""
        return self._set(_OBJECT_REUSE, True)

    def disable_object_reuse(self) -> ExecutionConfig:
        """Take ``enable_object_reuse`` back."""
        return self._set(_OBJECT_REUSE, False)

    def is_object_reuse_enabled(self) -> bool:
        """Say whether operators hand on objects without copying them."""
        return self._get(_OBJECT_REUSE)

    def enable_auto_generated_uids(self) -> ExecutionConfig:
        """Give operators without a uid one."""
        return self._set(_AUTO_UIDS, True)

    def disable_auto_generated_uids(self) -> ExecutionConfig:
        """Demand a uid of each operator."""
        return self._set(_AUTO_UIDS, False)

    def has_auto_generated_uids_enabled(self) -> bool:
        """Say whether operators without a uid get one."""
        return self._get(_AUTO_UIDS)

    def enable_generic_types(self) -> ExecutionConfig:
        """Allow streams without a type."""
        return self._set(_GENERIC_TYPES, True)

    def disable_generic_types(self) -> ExecutionConfig:
        """Refuse streams without a type."""
        return self._set(_GENERIC_TYPES, False)

    def has_generic_types_disabled(self) -> bool:
        """Say whether streams without a type are refused."""
        return not self._get(_GENERIC_TYPES)

    def is_use_snapshot_compression(self) -> bool:
        """Give what was set."""
        return self._get(_COMPRESSION)

    def set_use_snapshot_compression(self, use_snapshot_compression: bool) -> ExecutionConfig:
        """Set whether state files are compressed: they are not, and the job warns of it."""
        return self._set(_COMPRESSION, bool(use_snapshot_compression))

    # ---- kept without effect

    def enable_closure_cleaner(self) -> ExecutionConfig:
        """Keep the setting; it has no effect."""
        return self._set(_CLOSURE_CLEANER, "RECURSIVE")

    def disable_closure_cleaner(self) -> ExecutionConfig:
        """Keep the setting; it has no effect."""
        return self._set(_CLOSURE_CLEANER, "NONE")

    def is_closure_cleaner_enabled(self) -> bool:
        """Give the kept setting."""
        return self._get(_CLOSURE_CLEANER) != "NONE"

    def enable_force_kryo(self) -> ExecutionConfig:
        """Keep the setting; it has no effect."""
        return self._set(_FORCE_KRYO, True)

    def disable_force_kryo(self) -> ExecutionConfig:
        """Keep the setting; it has no effect."""
        return self._set(_FORCE_KRYO, False)

    def is_force_kryo_enabled(self) -> bool:
        """Give the kept setting."""
        return self._get(_FORCE_KRYO)

    def enable_force_avro(self) -> ExecutionConfig:
        """Keep the setting; it has no effect."""
        return self._set(_FORCE_AVRO, True)

    def disable_force_avro(self) -> ExecutionConfig:
        """Keep the setting; it has no effect."""
        return self._set(_FORCE_AVRO, False)

    def is_force_avro_enabled(self) -> bool:
        """Give the kept setting."""
        return self._get(_FORCE_AVRO)

    def disable_auto_type_registration(self) -> ExecutionConfig:
        """Keep the setting; it has no effect."""
        return self._set(_AUTO_TYPES, False)

    def is_auto_type_registration_disabled(self) -> bool:
        """Give the kept setting."""
        return not self._get(_AUTO_TYPES)

    def set_execution_mode(self, execution_mode: ExecutionMode) -> ExecutionConfig:
        """Keep the setting; it has no effect."""
        self._kept["mode"] = execution_mode
        return self

    def get_execution_mode(self) -> ExecutionMode:
        """Give the kept setting."""
        return ExecutionMode(self._kept.get("mode", ExecutionMode.PIPELINED))

    def set_default_input_dependency_constraint(
        self, input_dependency_constraint: InputDependencyConstraint
    ) -> ExecutionConfig:
        """Keep the setting; it has no effect."""
        self._kept["constraint"] = input_dependency_constraint
        return self

    def get_default_input_dependency_constraint(self) -> InputDependencyConstraint:
        """Give the kept setting."""
        return InputDependencyConstraint(self._kept.get("constraint", InputDependencyConstraint.ANY))

    def add_default_kryo_serializer(self, type_class_name: str, serializer_class_name: str) -> ExecutionConfig:
        """Keep the names; they have no effect."""
        self._register("kryo default", type_class_name, serializer_class_name)
        return self

    def get_default_kryo_serializer_classes(self) -> dict[str, str]:
        """Give the kept names."""
        return self._registered("kryo default")

    def register_type_with_kryo_serializer(self, type_class_name: str, serializer_class_name: str) -> ExecutionConfig:
        """Keep the names; they have no effect."""
        self._register("kryo", type_class_name, serializer_class_name)
        return self

    def get_registered_types_with_kryo_serializer_classes(self) -> dict[str, str]:
        """Give the kept names."""
        return self._registered("kryo")

    def register_kryo_type(self, type_class_name: str) -> ExecutionConfig:
        """Keep the name; it has no effect."""
        self._register("kryo types", type_class_name)
        return self

    def get_registered_kryo_types(self) -> list[str]:
        """Give the kept names."""
        return list(self._registered("kryo types"))

    def register_pojo_type(self, type_class_name: str) -> ExecutionConfig:
        """Keep the name; it has no effect."""
        self._register("pojo types", type_class_name)
        return self

    def get_registered_pojo_types(self) -> list[str]:
        """Give the kept names."""
        return list(self._registered("pojo types"))

    def __eq__(self, other: object) -> bool:
        """Compare all settings."""
        if not isinstance(other, ExecutionConfig):
            return NotImplemented
        return self._configuration == other._configuration and self._kept == other._kept

    def __hash__(self) -> int:
        """Hash the settings that have keys."""
        return hash(self._configuration)


offer_pyflink_names(__name__)
