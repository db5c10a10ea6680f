"""EnvironmentSettings: what a TableEnvironment starts with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.config.configuration import Configuration
from headrace.errors import InvalidProgramError, TypeMismatchError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["EnvironmentSettings"]

_MODE = "execution.runtime-mode"
_CATALOG = "table.builtin-catalog-name"
_DATABASE = "table.builtin-database-name"


class EnvironmentSettings:
    """Streaming or batch mode, the names of the built-in catalog and database, and a configuration.

    >>> settings = EnvironmentSettings.in_batch_mode()
    >>> settings.is_streaming_mode(), settings.get_built_in_catalog_name()
    (False, 'default_catalog')
    """

    def __init__(self, configuration: Configuration) -> None:
        """Programs call `in_streaming_mode`, `in_batch_mode` or `new_instance`."""
        self._configuration = configuration

    def get_built_in_catalog_name(self) -> str:
        """Return the name of the catalog that exists at first."""
        return str(self._configuration.get_string(_CATALOG, "default_catalog"))

    def get_built_in_database_name(self) -> str:
        """Return the name of the database that exists at first."""
        return str(self._configuration.get_string(_DATABASE, "default_database"))

    def is_streaming_mode(self) -> bool:
        """Return whether queries run as streams."""
        return str(self._configuration.get_string(_MODE, "STREAMING")).upper() != "BATCH"

    def get_configuration(self) -> Configuration:
        """Return all settings as a configuration."""
        return Configuration(self._configuration)

    @staticmethod
    def new_instance() -> EnvironmentSettings.Builder:
        """Return a builder."""
        return EnvironmentSettings.Builder()

    @staticmethod
    def in_streaming_mode() -> EnvironmentSettings:
        """Return the settings for queries over streams, whose results change as rows arrive."""
        return EnvironmentSettings.new_instance().in_streaming_mode().build()

    @staticmethod
    def in_batch_mode() -> EnvironmentSettings:
        """Return the settings for queries over tables that end, with final results only."""
        return EnvironmentSettings.new_instance().in_batch_mode().build()

    class Builder:
        """Collects settings.

        >>> EnvironmentSettings.Builder().with_built_in_database_name("db").build().get_built_in_database_name()
        'db'
        """

        def __init__(self) -> None:
            """Programs call `EnvironmentSettings.new_instance`."""
            self._configuration = Configuration()

        def with_configuration(self, config: Configuration) -> Self:
            """Add all keys of a configuration."""
            if not isinstance(config, Configuration):
                raise TypeMismatchError("with_configuration takes a Configuration", seen=config)
            self._configuration.add_all(config)
            return self

        def in_batch_mode(self) -> Self:
            """Run queries over tables that end."""
            self._configuration.set_string(_MODE, "BATCH")
            return self

        def in_streaming_mode(self) -> Self:
            """Run queries over streams; this is the default."""
            self._configuration.set_string(_MODE, "STREAMING")
            return self

        def with_built_in_catalog_name(self, built_in_catalog_name: str) -> Self:
            """Set the name of the catalog that exists at first."""
            return self._named(_CATALOG, built_in_catalog_name)

        def with_built_in_database_name(self, built_in_database_name: str) -> Self:
            """Set the name of the database that exists at first."""
            return self._named(_DATABASE, built_in_database_name)

        def _named(self, key: str, name: str) -> Self:
            if not isinstance(name, str) or not name:
                raise InvalidProgramError("A name of a catalog or database is a string that is not empty", seen=name)
            self._configuration.set_string(key, name)
            return self

        def build(self) -> EnvironmentSettings:
            """Return the settings."""
            return EnvironmentSettings(Configuration(self._configuration))
