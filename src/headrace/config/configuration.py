"""Configuration: keys and values.

Decides how values are stored and read: as they were set, or parsed from a string. Does not know which keys exist.
Created by programs, by the command line (``-D``) and from the configuration file.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any, TypeVar

from headrace.compatibility.no_jvm_object import NoJvmObject
from headrace.config.config_options import ConfigOption, ConfigOptions
from headrace.config.option_values import parse_list, value_text
from headrace.errors import ConfigurationError, NoJvmError, TypeMismatchError
from headrace.types.java_hash import hash_map_order
from headrace.types.typeinfo import Types

__all__ = ["Configuration"]

T = TypeVar("T")
_Keys = set[str]


class Configuration(NoJvmObject):
    """Keys and values. A string can be read as any type that it can be parsed as.

    >>> configuration = Configuration().set_string("a", "5").set_boolean("b", True)
    >>> configuration.get_integer("a", 0), configuration.get_string("b", "")
    (5, 'true')
    """

    def __init__(self, other: Configuration | None = None, j_configuration: Any = None) -> None:
        """Create an empty configuration, or a copy of ``other``."""
        if j_configuration is not None:
            raise NoJvmError(
                "A Configuration of headrace does not wrap a Java object", remedy="leave j_configuration out"
            )
        self._values: dict[str, Any] = {}
        if other is not None:
            self.add_all(other)

    @classmethod
    def from_dict(cls, map: Mapping[str, str]) -> Configuration:
        """Create a configuration from a dict.

        >>> Configuration.from_dict({"a": "1"}).get_integer("a", 0)
        1
        """
        configuration = cls()
        for key, value in map.items():
            configuration._put(key, value)
        return configuration

    def _put(self, key: str, value: Any) -> Configuration:
        name: object = key
        if not isinstance(name, str) or not name:
            raise ConfigurationError("A configuration key must be a non-empty string", seen=name)
        if value is None:
            raise ConfigurationError(f"The value of {name} is missing", remedy="use remove_config to unset a key")
        self._values[name] = value
        return self

    def get(self, option: ConfigOption[T], default_value: T | None = None) -> T | None:
        """Return the value of an option, or ``default_value``, or the option's default.

        >>> timeout = ConfigOptions.key("timeout").duration_type().no_default_value()
        >>> Configuration().set_string("timeout", "5 s").get(timeout).to_millis()
        5000
        """
        for key in (option.key, *option.fallback_keys):
            if key in self._values:
                return option.read(self._values[key])
        return option.default if default_value is None else default_value

    def set(self, option: ConfigOption[T], value: T) -> Configuration:
        """Set the value of an option. A value of another type is rejected.

        >>> retries = ConfigOptions.key("retries").int_type().default_value(1)
        >>> Configuration().set(retries, 2).get(retries)
        2
        """
        return self._put(option.key, option.read(value))

    def get_string(self, key: str, default_value: str) -> str:
        """Return a value as a string.

        >>> Configuration().set_float("a", 1.5).get_string("a", "")
        '1.5'
        """
        return value_text(self._values[key]) if key in self._values else default_value

    def set_string(self, key: str, value: str) -> Configuration:
        """Set a string.

        >>> Configuration().set_string("a", "b").to_dict()
        {'a': 'b'}
        """
        text: object = value
        if text is not None and not isinstance(text, str):
            raise TypeMismatchError(f"set_string takes a string for {key}", seen=text, expected="str")
        return self._put(key, text)

    @staticmethod
    def parse_list_value(value: str | None, standard_yaml: bool = True) -> list[Any]:
        """Parse a list; without ``standard_yaml`` only semicolons separate its elements.

        >>> Configuration.parse_list_value("[a, b]"), Configuration.parse_list_value("a;b")
        (['a', 'b'], ['a', 'b'])
        """
        if not value:
            return []
        return parse_list(value) if standard_yaml else value.split(";")

    def _get(self, option: ConfigOption[T], default_value: T) -> T:
        value = self.get(option)
        return default_value if value is None else value

    def get_integer(self, key: str, default_value: int) -> int:
        """Return a value as an ``int`` of 64 bits.

        >>> Configuration().get_integer("a", 7)
        7
        """
        return self._get(ConfigOptions.key(key).long_type().no_default_value(), default_value)

    def set_integer(self, key: str, value: int) -> Configuration:
        """Set an ``int``.

        >>> Configuration().set_integer("a", 7).to_dict()
        {'a': '7'}
        """
        return self.set(ConfigOptions.key(key).long_type().no_default_value(), value)

    def get_boolean(self, key: str, default_value: bool) -> bool:
        """Return a value as a ``bool``.

        >>> Configuration().set_string("a", "TRUE").get_boolean("a", False)
        True
        """
        return self._get(ConfigOptions.key(key).boolean_type().no_default_value(), default_value)

    def set_boolean(self, key: str, value: bool) -> Configuration:
        """Set a ``bool``; 0 and 1 are accepted.

        >>> Configuration().set_boolean("a", True).to_dict()
        {'a': 'true'}
        """
        given = bool(value) if value in (0, 1) else value
        return self.set(ConfigOptions.key(key).boolean_type().no_default_value(), given)

    def get_float(self, key: str, default_value: float) -> float:
        """Return a value as a ``float``.

        >>> Configuration().set_integer("a", 2).get_float("a", 0.0)
        2.0
        """
        return self._get(ConfigOptions.key(key).double_type().no_default_value(), float(default_value))

    def set_float(self, key: str, value: float) -> Configuration:
        """Set a ``float``.

        >>> Configuration().set_float("a", 1).to_dict()
        {'a': '1.0'}
        """
        return self.set(ConfigOptions.key(key).double_type().no_default_value(), value)

    def get_bytearray(self, key: str, default_value: bytearray) -> bytearray:
        """Return a value that was set as bytes.

        >>> Configuration().set_bytearray("a", bytearray(b"x")).get_bytearray("a", bytearray())
        bytearray(b'x')
        """
        value = self._values.get(key, default_value)
        if not isinstance(value, (bytes, bytearray)):
            raise ConfigurationError(f"The value of {key} is not bytes", seen=value, expected="bytes")
        return bytearray(value)

    def set_bytearray(self, key: str, value: bytearray) -> Configuration:
        """Set bytes.

        >>> Configuration().set_bytearray("a", bytearray(b"x")).contains_key("a")
        True
        """
        return self._put(key, bytes(value))

    def key_set(self) -> _Keys:
        """Return all keys.

        >>> Configuration().set_string("a", "b").key_set()
        {'a'}
        """
        return {*self._values}

    def add_all_to_dict(self, target_dict: MutableMapping[str, Any]) -> None:
        """Add all values to a dict, as they were set.

        >>> target = {}
        >>> Configuration().set_integer("a", 1).add_all_to_dict(target)
        >>> target
        {'a': 1}
        """
        target_dict.update(self._values)

    def add_all(self, other: Configuration, prefix: str | None = None) -> Configuration:
        """Add all values of ``other``, with ``prefix`` before their keys.

        >>> Configuration().add_all(Configuration().set_string("a", "b"), "my.").to_dict()
        {'my.a': 'b'}
        """
        self._values.update({(prefix or "") + key: value for key, value in other._values.items()})
        return self

    def contains_key(self, key: str) -> bool:
        """Return whether a key is set.

        >>> Configuration().contains_key("a")
        False
        """
        return key in self._values

    def to_dict(self) -> dict[str, str]:
        """Return all values as strings.

        >>> Configuration().set_boolean("a", True).to_dict()
        {'a': 'true'}
        """
        return {key: value_text(value) for key, value in self._values.items()}

    def remove_config(self, key: str) -> bool:
        """Remove a key. Return whether it was set.

        >>> Configuration().set_string("a", "b").remove_config("a")
        True
        """
        return self._values.pop(key, None) is not None

    def __eq__(self, other: object) -> bool:
        return self._values == other._values if isinstance(other, Configuration) else NotImplemented

    def __hash__(self) -> int:
        """Hash keys and values as they are now; equal configurations have equal hashes."""
        return hash(frozenset((key, _hash(value)) for key, value in self._values.items()))

    def __str__(self) -> str:
        """Return the map as Java formats it."""
        ordered = hash_map_order(self._values, Types.STRING(), buckets=16)
        return "{" + ", ".join(f"{key}={value_text(self._values[key])}" for key in ordered) + "}"

    def __repr__(self) -> str:
        """Return the call that creates an equal configuration of strings."""
        return f"Configuration.from_dict({self.to_dict()!r})"


def value_of(configuration: Configuration, option: ConfigOption[T]) -> T:
    """Return the value of an option that has a default, or that is known to be set.

    >>> value_of(Configuration(), ConfigOptions.key("retries").int_type().default_value(3))
    3
    """
    value = configuration.get(option)
    assert value is not None, f"{option.key} has no default"
    return value


def _hash(value: object) -> int:
    try:
        return hash(value)
    except TypeError:  # a list, a dict, a bytearray
        return 0
