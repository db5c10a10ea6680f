"""TableConfig: the options of a TableEnvironment, of its queries and of the jobs that it starts."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfoNotFoundError

from headrace.config.configuration import Configuration
from headrace.config.known_keys import check_options
from headrace.errors import ConfigurationError, InvalidProgramError, TypeMismatchError
from headrace.table.conversion import zone_of
from headrace.table.errors import SqlNotSupportedError
from headrace.table.option_effects import check_table_option
from headrace.table.sql_dialect import SqlDialect

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["TableConfig"]

TIME_ZONE = "table.local-time-zone"
DIALECT = "table.sql-dialect"
TTL = "table.exec.state.ttl"
_CODE_LENGTH = "table.generated-code.max-length"
_EXECUTABLE = "python.executable"


class TableConfig:
    """The options of an environment. Queries read them when they are executed.

    >>> config = TableConfig.get_default()
    >>> config.set("table.exec.state.ttl", "1 h").get("table.exec.state.ttl", "0")
    '1 h'
    >>> config.set_local_timezone("Asia/Shanghai")
    >>> config.get_local_timezone()
    'Asia/Shanghai'
    """

    def __init__(self, configuration: Configuration | None = None) -> None:
        """Programs call `TableEnvironment.get_config`."""
        self._configuration = Configuration() if configuration is None else configuration
        self._initial = Configuration(self._configuration).to_dict()

    @staticmethod
    def get_default() -> TableConfig:
        """Return a new set of options."""
        return TableConfig()

    def get(self, key: str, default_value: Any) -> Any:
        """Return the value of an option as a string, or the default."""
        return self._configuration.get_string(key, default_value)

    def set(self, key: str, value: str) -> Self:
        """Set an option."""
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeMismatchError("set takes two strings", seen=(key, value))
        check_options({key: value})
        check_table_option(key, value)
        if key == TIME_ZONE:
            _checked_zone(value)
        if key == DIALECT and value.lower() != "default":
            raise _no_dialect(value)
        self._configuration.set_string(key, value)
        return self

    def unset(self, key: str) -> None:
        """Set an option back to what it was at first."""
        self._configuration.remove_config(key)
        if key in self._initial:
            self._configuration.set_string(key, self._initial[key])

    def get_configuration(self) -> Configuration:
        """Return the options; changes of the configuration apply here, too."""
        return self._configuration

    def add_configuration(self, configuration: Configuration) -> None:
        """Add all options of a configuration."""
        for key, value in configuration.to_dict().items():
            self.set(key, value)

    def to_map(self) -> dict[str, str]:
        """Return all options as strings."""
        return dict(self._configuration.to_dict())

    # -- single options -----------------------------------------------------------------------------------------------

    def get_local_timezone(self) -> str:
        """Return the time zone of the session, UTC unless it was set."""
        return time_zone_of(self._configuration.to_dict())

    def set_local_timezone(self, timezone_id: str) -> None:
        """Set the time zone in which TIMESTAMP_LTZ values are shown and converted."""
        self.set(TIME_ZONE, timezone_id)

    def get_idle_state_retention(self) -> datetime.timedelta:
        """Return how long state is kept that no row has changed; zero: for ever."""
        from headrace.table.connectors.options import duration

        return datetime.timedelta(milliseconds=duration(str(self.get(TTL, "0 ms"))))

    def set_idle_state_retention(self, duration: datetime.timedelta) -> None:
        """Set how long state is kept that no row has changed."""
        if not isinstance(duration, datetime.timedelta):
            raise TypeMismatchError("set_idle_state_retention takes a timedelta", seen=duration)
        self.set(TTL, f"{duration // datetime.timedelta(milliseconds=1)} ms")

    def get_sql_dialect(self) -> int:
        """Return the dialect: Flink SQL."""
        return SqlDialect.DEFAULT

    def set_sql_dialect(self, sql_dialect: int) -> None:
        """Accept Flink SQL; there is no other dialect."""
        if sql_dialect != SqlDialect.DEFAULT:
            raise _no_dialect("hive")

    def get_max_generated_code_length(self) -> int:
        """Return an option of Flink's code generator; headrace has none, so it has no effect."""
        return int(self._configuration.get_string(_CODE_LENGTH, "4000"))

    def set_max_generated_code_length(self, max_generated_code_length: int) -> None:
        """Set an option of Flink's code generator; headrace has none, so it has no effect."""
        self.set(_CODE_LENGTH, str(max_generated_code_length))

    def get_python_executable(self) -> str:
        """Return the Python that runs functions."""
        return str(self._configuration.get_string(_EXECUTABLE, "python"))

    def set_python_executable(self, python_exec: str) -> None:
        """Set the Python that runs functions."""
        self.set(_EXECUTABLE, python_exec)


def time_zone_of(options: Mapping[str, Any]) -> str:
    """Return the time zone of a session with these options.

    >>> time_zone_of({}), time_zone_of({"table.local-time-zone": "default"})
    ('UTC', 'UTC')
    """
    found = str(options.get(TIME_ZONE, "default"))
    return "UTC" if found == "default" else found


def _checked_zone(name: str) -> None:
    try:
        if name != "default":
            zone_of(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ConfigurationError(
            "The time zone is unknown",
            seen=name,
            expected="a name such as 'Europe/Berlin', or an offset such as 'GMT+08:00'",
        ) from None


def _no_dialect(name: str) -> InvalidProgramError | SqlNotSupportedError:
    return SqlNotSupportedError(f"There is no SQL dialect '{name}'", remedy="use the default dialect, Flink SQL")
