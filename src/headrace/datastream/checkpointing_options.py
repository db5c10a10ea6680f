"""CheckpointingOptions: checkpoints, state backend and restarts of a whole program. Base of StreamExecutionEnvironment.

Checks the values and stores them in the environment's `Configuration` under Flink's keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.compatibility.ignored_settings import warn_without_effect
from headrace.config import checkpoint_keys, pipeline_keys
from headrace.config.configuration import Configuration, value_of
from headrace.config.restart_strategy import RestartStrategyConfiguration
from headrace.datastream.checkpoint_config import CheckpointConfig
from headrace.datastream.checkpoint_storage import normalized_path
from headrace.datastream.checkpointing_mode import CheckpointingMode
from headrace.datastream.environment_options import EnvironmentOptions
from headrace.datastream.old_state_backends import backend_named
from headrace.datastream.state_backends import StateBackend
from headrace.datastream.time_characteristic import TimeCharacteristic
from headrace.errors import ConfigurationError, TypeMismatchError

if TYPE_CHECKING:
    from typing_extensions import Self


class CheckpointingOptions(EnvironmentOptions):
    """The settings of state, checkpoints and restarts.

    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> env.enable_checkpointing(1000).get_checkpoint_interval()
    1000
    """

    def __init__(self, configuration: Configuration | None = None, *, spark: Any = None) -> None:
        """Programs call `StreamExecutionEnvironment.get_execution_environment`."""
        super().__init__(configuration, spark=spark)
        self._checkpoint_config = CheckpointConfig(self._configuration)
        self._state_backend: StateBackend | None = None

    def get_checkpoint_config(self) -> CheckpointConfig:
        """Return the settings of checkpoints; changes apply to the environment."""
        return self._checkpoint_config

    def enable_checkpointing(self, interval: int, mode: CheckpointingMode | None = None) -> Self:
        """Take a checkpoint every ``interval`` milliseconds."""
        self._checkpoint_config.set_checkpoint_interval(interval)
        if mode is not None:
            self._checkpoint_config.set_checkpointing_mode(mode)
        return self

    def get_checkpoint_interval(self) -> int:
        """Return the time between checkpoints in milliseconds, or -1 without checkpoints."""
        return self._checkpoint_config.get_checkpoint_interval()

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """Return what checkpoints guarantee."""
        return self._checkpoint_config.get_checkpointing_mode()

    def get_checkpointing_consistency_mode(self) -> CheckpointingMode:
        """Return what checkpoints guarantee."""
        return self._checkpoint_config.get_checkpointing_mode()

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """Return whether checkpoints may overtake records in flight."""
        return self._checkpoint_config.is_unaligned_checkpoints_enabled()

    def is_force_unaligned_checkpoints(self) -> bool:
        """Return whether checkpoints are always unaligned."""
        return self._checkpoint_config.is_force_unaligned_checkpoints()

    def enable_changelog_state_backend(self, enabled: bool) -> Self:
        """Store the setting; no effect, because headrace's state files per epoch already are a changelog."""
        if enabled:
            warn_without_effect("enable_changelog_state_backend")
        self._configuration.set(checkpoint_keys.CHANGELOG, enabled)
        return self

    def is_changelog_state_backend_enabled(self) -> bool | None:
        """Return the stored setting, or None."""
        return self._configuration.get(checkpoint_keys.CHANGELOG)

    def set_default_savepoint_directory(self, directory: str) -> Self:
        """Set the default directory of savepoints."""
        self._configuration.set(
            checkpoint_keys.SAVEPOINT_DIRECTORY, normalized_path(directory, "a savepoint directory")
        )
        return self

    def get_default_savepoint_directory(self) -> str | None:
        """Return the directory of savepoints, or None if it was not set."""
        return self._configuration.get(checkpoint_keys.SAVEPOINT_DIRECTORY)

    # ------------------------------------------------------------------ names that PyFlink 2 dropped

    def set_state_backend(self, state_backend: StateBackend) -> Self:
        """Set the state backend; an old backend also sets where checkpoints are written."""
        if not isinstance(state_backend, StateBackend):
            raise TypeMismatchError("set_state_backend takes a StateBackend", seen=state_backend)
        self._state_backend = state_backend
        self._configuration.set(checkpoint_keys.STATE_BACKEND, state_backend.option)
        storage = state_backend.implied_storage()
        if storage is not None:
            self._checkpoint_config.set_checkpoint_storage(storage)
        return self

    def get_state_backend(self) -> StateBackend | None:
        """Return the state backend, or None if neither a call nor the configuration sets it."""
        name = self._configuration.get(checkpoint_keys.STATE_BACKEND)
        if name is None or (self._state_backend is not None and self._state_backend.option == name):
            return self._state_backend
        return backend_named(name, self._configuration)

    def set_restart_strategy(self, restart_strategy_configuration: RestartStrategyConfiguration) -> Self:
        """Set whether and when a failed job restarts."""
        self.get_config().set_restart_strategy(restart_strategy_configuration)
        return self

    def get_restart_strategy(self) -> RestartStrategyConfiguration:
        """Return whether and when a failed job restarts."""
        return self.get_config().get_restart_strategy()

    def set_stream_time_characteristic(self, characteristic: TimeCharacteristic) -> None:
        """Store the setting of old programs; no effect, because the watermark strategy of each stream decides."""
        if not isinstance(characteristic, TimeCharacteristic):
            raise TypeMismatchError("set_stream_time_characteristic takes a TimeCharacteristic", seen=characteristic)
        if characteristic is not TimeCharacteristic.EventTime:
            warn_without_effect("set_stream_time_characteristic")
        self._configuration.set(pipeline_keys.TIME_CHARACTERISTIC, characteristic.name)

    def get_stream_time_characteristic(self) -> TimeCharacteristic:
        """Return the stored setting; EventTime by default."""
        name = value_of(self._configuration, pipeline_keys.TIME_CHARACTERISTIC)
        if name not in TimeCharacteristic.__members__:
            raise ConfigurationError(
                f"{pipeline_keys.TIME_CHARACTERISTIC.key} is not a known time characteristic",
                seen=name,
                expected=" or ".join(TimeCharacteristic.__members__),
            )
        return TimeCharacteristic[name]

    def add_default_kryo_serializer(self, type_class_name: str, serializer_class_name: str) -> None:
        """Store the setting of old programs; no effect, because there are no Java objects to serialize."""
        warn_without_effect("kryo and pojo registrations")
        self.get_config().add_default_kryo_serializer(type_class_name, serializer_class_name)

    def register_type_with_kryo_serializer(self, type_class_name: str, serializer_class_name: str) -> None:
        """Store the setting of old programs; no effect, because there are no Java objects to serialize."""
        warn_without_effect("kryo and pojo registrations")
        self.get_config().register_type_with_kryo_serializer(type_class_name, serializer_class_name)

    def register_type(self, type_class_name: str) -> None:
        """Store the setting of old programs; no effect, because there are no Java classes."""
        warn_without_effect("kryo and pojo registrations")
        self.get_config().register_pojo_type(type_class_name)
