"""ExecutionConfig: settings of a program's execution, with PyFlink's methods.

Checks limits. A setting for which Flink has a key is stored in a ``Configuration``, so methods, ``-D`` options and the
configuration file set the same value. Some settings are stored without effect, because there is no JVM code of the user
to serialize: Kryo, Avro and POJO types, the closure cleaner, the execution mode. Created by the environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from headrace.common.execution_mode import ExecutionMode
from headrace.common.input_dependency_constraint import InputDependencyConstraint
from headrace.compatibility.names import offer_pyflink_names
from headrace.compatibility.no_jvm_object import NoJvmObject
from headrace.config import pipeline_keys as keys
from headrace.config.config_options import ConfigOption
from headrace.config.configuration import Configuration, value_of
from headrace.config.restart_keys import restart_strategy_from
from headrace.config.restart_strategy import RestartStrategies, RestartStrategyConfiguration
from headrace.errors import ConfigurationError
from headrace.types.time import Duration

__all__ = ["ExecutionConfig"]
offer_pyflink_names(__name__)

T = TypeVar("T")

_MOST_PARALLELISM = 1 << 15


class ExecutionConfig(NoJvmObject):
    """Settings of a program's execution.

    >>> config = ExecutionConfig().set_parallelism(4).enable_object_reuse()
    >>> config.get_parallelism(), config.is_object_reuse_enabled(), config.get_auto_watermark_interval()
    (4, True, 200)
    """

    PARALLELISM_DEFAULT: ClassVar[int] = -1
    PARALLELISM_UNKNOWN: ClassVar[int] = -2

    def __init__(self, configuration: Configuration | None = None) -> None:
        """Create settings that are stored in ``configuration``, or in a new one."""
        self._configuration = Configuration() if configuration is None else configuration
        self._kept: dict[str, Any] = {}

    def over(self, configuration: Configuration) -> ExecutionConfig:
        """Return the same settings, stored in another configuration."""
        other = ExecutionConfig(configuration)
        other._kept = dict(self._kept)
        return other

    def _get(self, option: ConfigOption[T]) -> T:
        return value_of(self._configuration, option)

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

    def get_parallelism(self) -> int:
        """Return the parallelism of operators that set none; -1 leaves it to the environment."""
        parallelism = self._configuration.get(keys.PARALLELISM)
        return self.PARALLELISM_DEFAULT if parallelism is None else parallelism

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
        return self._set(keys.PARALLELISM, parallelism)

    def get_max_parallelism(self) -> int:
        """Return the number of key groups, or -1 if none is set."""
        return self._get(keys.MAX_PARALLELISM)

    def set_max_parallelism(self, max_parallelism: int) -> ExecutionConfig:
        """Set the number of key groups, which is the limit for later rescaling."""
        if not 0 < max_parallelism <= _MOST_PARALLELISM:
            raise ConfigurationError(
                "The maximum parallelism is out of range", seen=max_parallelism, expected=f"1 to {_MOST_PARALLELISM}"
            )
        return self._set(keys.MAX_PARALLELISM, max_parallelism)

    def set_auto_watermark_interval(self, interval: int) -> ExecutionConfig:
        """Set how often watermarks are emitted, in milliseconds."""
        return self._set_span(keys.WATERMARK_INTERVAL, interval, "The watermark interval")

    def get_auto_watermark_interval(self) -> int:
        """Return how often watermarks are emitted, in milliseconds."""
        return self._get(keys.WATERMARK_INTERVAL).to_millis()

    def set_latency_tracking_interval(self, interval: int) -> ExecutionConfig:
        """Set how often latency is measured, in milliseconds; 0 or less switches it off."""
        return self._set(keys.LATENCY_INTERVAL, Duration.of_millis(interval))

    def get_latency_tracking_interval(self) -> int:
        """Return how often latency is measured, in milliseconds."""
        return self._get(keys.LATENCY_INTERVAL).to_millis()

    def set_task_cancellation_interval(self, interval: int) -> ExecutionConfig:
        """Set the time between attempts to cancel a task, in milliseconds."""
        return self._set_span(keys.CANCELLATION_INTERVAL, interval, "The cancellation interval")

    def get_task_cancellation_interval(self) -> int:
        """Return the time between attempts to cancel a task, in milliseconds."""
        return self._get(keys.CANCELLATION_INTERVAL).to_millis()

    def set_task_cancellation_timeout(self, timeout: int) -> ExecutionConfig:
        """Set the time after which a task that does not react to cancellation counts as lost, in milliseconds; 0 for never."""
        return self._set_span(keys.CANCELLATION_TIMEOUT, timeout, "The cancellation timeout")

    def get_task_cancellation_timeout(self) -> int:
        """Return the time after which a task that does not react to cancellation counts as lost, in milliseconds."""
        return self._get(keys.CANCELLATION_TIMEOUT).to_millis()

    def set_restart_strategy(self, restart_strategy_configuration: RestartStrategyConfiguration) -> ExecutionConfig:
        """Set what happens when the job fails."""
        self._kept["restart"] = restart_strategy_configuration
        return self

    def get_restart_strategy(self) -> RestartStrategyConfiguration:
        """Return the strategy that was set, else that of the configuration, else the fallback."""
        kept = self._kept.get("restart")
        if isinstance(kept, RestartStrategyConfiguration):
            return kept
        return restart_strategy_from(self._configuration) or RestartStrategies.fall_back_restart()

    def set_global_job_parameters(self, global_job_parameters_dict: Mapping[str, Any]) -> ExecutionConfig:
        """Store parameters of the program, as strings, for its functions to read.

        >>> ExecutionConfig().set_global_job_parameters({"a": 1}).get_global_job_parameters()
        {'a': '1'}
        """
        return self._set(keys.JOB_PARAMETERS, {key: str(value) for key, value in global_job_parameters_dict.items()})

    def get_global_job_parameters(self) -> dict[str, str]:
        """Return the parameters of the program."""
        parameters = self._get(keys.JOB_PARAMETERS)
        return dict(parameters)

    def enable_object_reuse(self) -> ExecutionConfig:
        """Let operators pass on objects without copying them."""
        return self._set(keys.OBJECT_REUSE, True)

    def disable_object_reuse(self) -> ExecutionConfig:
        """Undo ``enable_object_reuse``."""
        return self._set(keys.OBJECT_REUSE, False)

    def is_object_reuse_enabled(self) -> bool:
        """Return whether operators pass on objects without copying them."""
        return self._get(keys.OBJECT_REUSE)

    def enable_auto_generated_uids(self) -> ExecutionConfig:
        """Generate a uid for each operator that has none."""
        return self._set(keys.AUTO_UIDS, True)

    def disable_auto_generated_uids(self) -> ExecutionConfig:
        """Require a uid for each operator."""
        return self._set(keys.AUTO_UIDS, False)

    def has_auto_generated_uids_enabled(self) -> bool:
        """Return whether a uid is generated for operators that have none."""
        return self._get(keys.AUTO_UIDS)

    def enable_generic_types(self) -> ExecutionConfig:
        """Allow streams without a type."""
        return self._set(keys.GENERIC_TYPES, True)

    def disable_generic_types(self) -> ExecutionConfig:
        """Reject streams without a type."""
        return self._set(keys.GENERIC_TYPES, False)

    def has_generic_types_disabled(self) -> bool:
        """Return whether streams without a type are rejected."""
        return not self._get(keys.GENERIC_TYPES)

    def is_use_snapshot_compression(self) -> bool:
        """Return the stored setting."""
        return self._get(keys.COMPRESSION)

    def set_use_snapshot_compression(self, use_snapshot_compression: bool) -> ExecutionConfig:
        """Store the setting; state files are never compressed, and the job warns about it."""
        return self._set(keys.COMPRESSION, bool(use_snapshot_compression))

    def enable_closure_cleaner(self) -> ExecutionConfig:
        """Store the setting; it has no effect."""
        return self._set(keys.CLOSURE_CLEANER, "RECURSIVE")

    def disable_closure_cleaner(self) -> ExecutionConfig:
        """Store the setting; it has no effect."""
        return self._set(keys.CLOSURE_CLEANER, "NONE")

    def is_closure_cleaner_enabled(self) -> bool:
        """Return the stored setting."""
        return self._get(keys.CLOSURE_CLEANER) != "NONE"

    def enable_force_kryo(self) -> ExecutionConfig:
        """Store the setting; it has no effect."""
        return self._set(keys.FORCE_KRYO, True)

    def disable_force_kryo(self) -> ExecutionConfig:
        """Store the setting; it has no effect."""
        return self._set(keys.FORCE_KRYO, False)

    def is_force_kryo_enabled(self) -> bool:
        """Return the stored setting."""
        return self._get(keys.FORCE_KRYO)

    def enable_force_avro(self) -> ExecutionConfig:
        """Store the setting; it has no effect."""
        return self._set(keys.FORCE_AVRO, True)

    def disable_force_avro(self) -> ExecutionConfig:
        """Store the setting; it has no effect."""
        return self._set(keys.FORCE_AVRO, False)

    def is_force_avro_enabled(self) -> bool:
        """Return the stored setting."""
        return self._get(keys.FORCE_AVRO)

    def disable_auto_type_registration(self) -> ExecutionConfig:
        """Store the setting; it has no effect."""
        return self._set(keys.AUTO_TYPES, False)

    def is_auto_type_registration_disabled(self) -> bool:
        """Return the stored setting."""
        return not self._get(keys.AUTO_TYPES)

    def set_execution_mode(self, execution_mode: ExecutionMode) -> ExecutionConfig:
        """Store the setting; it has no effect."""
        self._kept["mode"] = execution_mode
        return self

    def get_execution_mode(self) -> ExecutionMode:
        """Return the stored setting."""
        return ExecutionMode(self._kept.get("mode", ExecutionMode.PIPELINED))

    def set_default_input_dependency_constraint(
        self, input_dependency_constraint: InputDependencyConstraint
    ) -> ExecutionConfig:
        """Store the setting; it has no effect."""
        self._kept["constraint"] = input_dependency_constraint
        return self

    def get_default_input_dependency_constraint(self) -> InputDependencyConstraint:
        """Return the stored setting."""
        return InputDependencyConstraint(self._kept.get("constraint", InputDependencyConstraint.ANY))

    def add_default_kryo_serializer(self, type_class_name: str, serializer_class_name: str) -> ExecutionConfig:
        """Store the names; they have no effect."""
        self._register("kryo default", type_class_name, serializer_class_name)
        return self

    def get_default_kryo_serializer_classes(self) -> dict[str, str]:
        """Return the stored names."""
        return self._registered("kryo default")

    def register_type_with_kryo_serializer(self, type_class_name: str, serializer_class_name: str) -> ExecutionConfig:
        """Store the names; they have no effect."""
        self._register("kryo", type_class_name, serializer_class_name)
        return self

    def get_registered_types_with_kryo_serializer_classes(self) -> dict[str, str]:
        """Return the stored names."""
        return self._registered("kryo")

    def register_kryo_type(self, type_class_name: str) -> ExecutionConfig:
        """Store the name; it has no effect."""
        self._register("kryo types", type_class_name)
        return self

    def get_registered_kryo_types(self) -> list[str]:
        """Return the stored names."""
        return list(self._registered("kryo types"))

    def register_pojo_type(self, type_class_name: str) -> ExecutionConfig:
        """Store the name; it has no effect."""
        self._register("pojo types", type_class_name)
        return self

    def get_registered_pojo_types(self) -> list[str]:
        """Return the stored names."""
        return list(self._registered("pojo types"))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExecutionConfig):
            return NotImplemented
        return self._configuration == other._configuration and self._kept == other._kept

    def __hash__(self) -> int:
        return hash(self._configuration)
