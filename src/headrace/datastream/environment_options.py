"""EnvironmentOptions: settings of a whole program (parallelism, mode, chaining, Python dependencies, ...).

Checks the values and stores them in one `Configuration` under Flink's keys, which the runtime reads. Base of
StreamExecutionEnvironment.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar

from headrace.common.execution_config import ExecutionConfig
from headrace.compatibility.ignored_settings import warn_without_effect
from headrace.compatibility.jars import CLASSPATHS, JARS, jar_paths, warn_of_jars
from headrace.compatibility.no_jvm_object import NoJvmObject
from headrace.config import pipeline_keys
from headrace.config.config_file import load_configuration
from headrace.config.config_options import ConfigOption
from headrace.config.configuration import Configuration, value_of
from headrace.datastream.execution_mode import RuntimeExecutionMode
from headrace.datastream.operator_handle import PARALLELISM_DEFAULT, check_integer
from headrace.datastream.slot_sharing_group import SlotSharingGroup
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.types.time import Duration

if TYPE_CHECKING:
    from typing_extensions import Self

_UPPER_BOUND = 32768


class EnvironmentOptions(NoJvmObject):
    """The settings of an environment.

    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> env.set_parallelism(3).get_parallelism()
    3
    """

    _default_local_parallelism: ClassVar[int | None] = None

    def __init__(self, configuration: Configuration | None = None, *, spark: Any = None) -> None:
        """Programs call `StreamExecutionEnvironment.get_execution_environment`."""
        self._configuration = Configuration.from_dict(load_configuration())
        if configuration is not None:
            self._configuration.add_all(configuration)
        self._spark = spark
        self._execution_config = ExecutionConfig(self._configuration)
        self._check_parallelism()
        self._slot_sharing_groups: dict[str, SlotSharingGroup] = {}

    def get_config(self) -> ExecutionConfig:
        """Return the execution configuration; changes apply to the environment."""
        return self._execution_config

    def get_configuration(self) -> Configuration:
        """Return a copy of all settings.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
        >>> env.get_configuration().get_string("parallelism.default", "")
        '2'
        """
        return Configuration(self._configuration)

    def configure(self, configuration: Configuration) -> None:
        """Add all values of ``configuration``."""
        if not isinstance(configuration, Configuration):
            raise TypeMismatchError("configure takes a Configuration", seen=configuration)
        self._configuration.add_all(configuration)
        self._check_parallelism()

    def _check_parallelism(self) -> None:
        """Apply the bounds of the setters to the values of a configuration."""
        parallelism = self._configuration.get(pipeline_keys.PARALLELISM)
        self.set_parallelism(PARALLELISM_DEFAULT if parallelism is None else parallelism)
        if (most := self.get_max_parallelism()) != PARALLELISM_DEFAULT:
            self.set_max_parallelism(most)

    def set_parallelism(self, parallelism: int) -> Self:
        """Set the parallelism of all operators that do not set their own."""
        check_integer(parallelism, "parallelism")
        if parallelism == PARALLELISM_DEFAULT:
            parallelism = self._cores()
        if parallelism < 1:
            raise InvalidProgramError("Parallelism must be at least one.", seen=parallelism)
        self._configuration.set(pipeline_keys.PARALLELISM, parallelism)
        return self

    def get_parallelism(self) -> int:
        """Return the parallelism of the program: the number of cores unless it was set."""
        return value_of(self._configuration, pipeline_keys.PARALLELISM)

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """Set the number of key groups of all operators that do not set their own."""
        check_integer(max_parallelism, "maximum parallelism")
        if not 0 < max_parallelism <= _UPPER_BOUND:
            raise InvalidProgramError(
                f"maxParallelism is out of bounds 0 < maxParallelism <= {_UPPER_BOUND}. Found: {max_parallelism}"
            )
        self._configuration.set(pipeline_keys.MAX_PARALLELISM, max_parallelism)
        return self

    def get_max_parallelism(self) -> int:
        """Return the number of key groups, or -1 if it was not set."""
        return value_of(self._configuration, pipeline_keys.MAX_PARALLELISM)

    def get_default_local_parallelism(self) -> int:
        """Return the parallelism of programs that set none and run on this machine."""
        return self._cores()

    def set_default_local_parallelism(self, parallelism: int) -> None:
        """Set the parallelism of programs that set none, for all environments of this process."""
        check_integer(parallelism, "parallelism")
        EnvironmentOptions._default_local_parallelism = parallelism

    def _cores(self) -> int:
        if EnvironmentOptions._default_local_parallelism is not None:
            return EnvironmentOptions._default_local_parallelism
        context = getattr(self._spark, "sparkContext", self._spark)
        given = getattr(context, "defaultParallelism", None)
        if isinstance(given, int):
            return given
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1

    def register_slot_sharing_group(self, slot_sharing_group: SlotSharingGroup) -> Self:
        """Register a slot sharing group with its resources, so that operators can refer to it by name."""
        if not isinstance(slot_sharing_group, SlotSharingGroup):
            raise TypeMismatchError("register_slot_sharing_group takes a SlotSharingGroup", seen=slot_sharing_group)
        known = self._slot_sharing_groups.get(slot_sharing_group.get_name())
        if known is not None and known != slot_sharing_group and slot_sharing_group.get_cpu_cores() is not None:
            raise InvalidProgramError(
                "The slot sharing group is already registered with different resources",
                seen=f"group {slot_sharing_group.get_name()!r}",
                remedy="use another name, or the same resources",
            )
        if slot_sharing_group.get_cpu_cores() is not None:
            warn_without_effect("slot_sharing_group resources")
        self._slot_sharing_groups.setdefault(slot_sharing_group.get_name(), slot_sharing_group)
        return self

    def set_runtime_mode(self, execution_mode: RuntimeExecutionMode) -> Self:
        """Set whether the program runs as a stream or as a batch."""
        if not isinstance(execution_mode, RuntimeExecutionMode):
            raise TypeMismatchError(
                "set_runtime_mode takes a RuntimeExecutionMode",
                seen=execution_mode,
                expected="RuntimeExecutionMode.STREAMING, BATCH or AUTOMATIC",
            )
        self._configuration.set(pipeline_keys.RUNTIME_MODE, execution_mode.name)
        return self

    def get_runtime_mode(self) -> RuntimeExecutionMode:
        """Return the mode; STREAMING by default.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> StreamExecutionEnvironment.get_execution_environment().get_runtime_mode().name
        'STREAMING'
        """
        name = value_of(self._configuration, pipeline_keys.RUNTIME_MODE).upper()
        if name not in RuntimeExecutionMode.__members__:
            raise InvalidProgramError(
                f"{pipeline_keys.RUNTIME_MODE.key} is not a known mode",
                seen=name,
                expected="STREAMING, BATCH or AUTOMATIC",
            )
        return RuntimeExecutionMode[name]

    def set_buffer_timeout(self, timeout_millis: int) -> Self:
        """Store how long output may wait in a buffer; no effect, because an epoch passes on all output when it ends."""
        check_integer(timeout_millis, "buffer timeout")
        if timeout_millis < -1:
            raise InvalidProgramError("Timeout of buffer must be non-negative or -1", seen=timeout_millis)
        warn_without_effect("set_buffer_timeout")
        if timeout_millis < 0:
            # Flink's value for sending only full buffers.
            self._configuration.set_boolean("execution.buffer-timeout.enabled", False)
            return self
        self._configuration.set(pipeline_keys.BUFFER_TIMEOUT, Duration.of_millis(timeout_millis))
        return self

    def get_buffer_timeout(self) -> int:
        """Return the buffer timeout in milliseconds."""
        if not self._configuration.get_boolean("execution.buffer-timeout.enabled", True):
            return -1
        return value_of(self._configuration, pipeline_keys.BUFFER_TIMEOUT).to_millis()

    def disable_operator_chaining(self) -> Self:
        """Run every operator in its own task."""
        self._configuration.set(pipeline_keys.CHAINING, False)
        return self

    def is_chaining_enabled(self) -> bool:
        """Return whether operators are chained if possible."""
        return value_of(self._configuration, pipeline_keys.CHAINING)

    def is_chaining_of_operators_with_different_max_parallelism_enabled(self) -> bool:
        """Return whether operators of different maximum parallelism may be chained."""
        return value_of(self._configuration, pipeline_keys.CHAINING_ACROSS_MAX_PARALLELISM)

    def add_python_file(self, file_path: str) -> None:
        """Make a module, a package directory or a zip file importable in the workers."""
        self._append(pipeline_keys.PYTHON_FILES, file_path)

    def set_python_requirements(self, requirements_file_path: str, requirements_cache_dir: str | None = None) -> None:
        """Install the packages of a requirements file in the workers, from ``requirements_cache_dir`` if given."""
        parts = (
            [requirements_file_path]
            if requirements_cache_dir is None
            else [requirements_file_path, requirements_cache_dir]
        )
        self._configuration.set(pipeline_keys.PYTHON_REQUIREMENTS, "#".join(parts))

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """Unpack an archive in the working directory of the workers, in ``target_dir`` if given."""
        self._append(
            pipeline_keys.PYTHON_ARCHIVES, archive_path if target_dir is None else f"{archive_path}#{target_dir}"
        )

    def set_python_executable(self, python_exec: str) -> None:
        """Set the Python interpreter of the workers: a path, or one inside an archive of `add_python_archive`.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.add_python_archive("/data/my_venv.tar.gz", "venv")
        >>> env.set_python_executable("venv/bin/python")
        """
        self._configuration.set(pipeline_keys.PYTHON_EXECUTABLE, python_exec)

    def register_cached_file(self, file_path: str, name: str, executable: bool = False) -> None:
        """Make a file available to functions under ``name``."""
        entry = f"name:{name},path:{file_path},executable:{str(bool(executable)).lower()}"
        files = value_of(self._configuration, pipeline_keys.CACHED_FILES)
        if any(known.startswith(f"name:{name},") for known in files):
            raise InvalidProgramError(f"cache file {name!r} already existed!", remedy="use another name")
        self._configuration.set(pipeline_keys.CACHED_FILES, [*files, entry])

    def add_jars(self, *jars_path: str) -> None:
        """Warn once per jar that it is not loaded and what replaces it: Java code of Flink cannot run on headrace.

        The connectors, formats and database drivers of headrace need no jars.
        """
        self._add_jars(JARS, "add_jars", jars_path)

    def add_classpaths(self, *classpaths: str) -> None:
        """Warn once per jar that it is not loaded, like `add_jars`."""
        self._add_jars(CLASSPATHS, "add_classpaths", classpaths)

    def _add_jars(self, key: str, call: str, paths: tuple[str, ...]) -> None:
        warn_of_jars(call, paths)
        present = jar_paths(self._configuration.to_dict().get(key))
        self._configuration.set_string(key, ";".join([*present, *paths]))

    def _append(self, option: ConfigOption[str], value: str) -> None:
        present = value_of(self._configuration, option)
        self._configuration.set(option, f"{present},{value}" if present else value)
