"""Options: typed keys of a configuration, with a default.

Decides how an option is described and how its value is parsed. Holds no value: ``Configuration`` does. Used by programs
and by every package that has settings.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from headrace.config.option_values import (
    parse_boolean,
    parse_duration,
    parse_float,
    parse_integer,
    parse_list,
    parse_map,
    parse_memory,
)
from headrace.errors import ConfigurationError
from headrace.types.time import Duration

__all__ = ["ConfigOption", "ConfigOptions"]

T = TypeVar("T")


@dataclass(frozen=True)
class ConfigOption(Generic[T]):
    """A key, how its value is parsed, and its default; immutable.

    >>> option = ConfigOptions.key("job.retries").int_type().default_value(3)
    >>> option.key, option.default, option.parse("5")
    ('job.retries', 3, 5)
    """

    key: str
    parse: Callable[[str], T]
    kind: type
    default: T | None = None
    fallback_keys: tuple[str, ...] = ()
    description: str = ""
    names: tuple[str, ...] = ()

    def with_description(self, description: str) -> ConfigOption[T]:
        """Return the option with a description.

        >>> ConfigOptions.key("a").string_type().no_default_value().with_description("first").description
        'first'
        """
        return dataclasses.replace(self, description=description)

    def with_fallback_keys(self, *fallback_keys: str) -> ConfigOption[T]:
        """Return the option with older keys, which apply if the key itself is not set.

        >>> ConfigOptions.key("a").string_type().no_default_value().with_fallback_keys("old").fallback_keys
        ('old',)
        """
        return dataclasses.replace(self, fallback_keys=fallback_keys)

    def read(self, value: Any) -> T:
        """Return the typed value of a string, or of a value that already has the type.

        >>> ConfigOptions.key("a").duration_type().no_default_value().read("5 s").to_millis()
        5000
        """
        if self.names:
            return cast("T", self._name(value))
        number_for_float = self.kind is float and isinstance(value, int)
        if isinstance(value, self.kind) and (self.kind is not int or not isinstance(value, bool)):
            return cast("T", value)
        if not isinstance(value, str) and not number_for_float:
            raise ConfigurationError(
                f"The option {self.key} has a value of the wrong type", seen=value, expected=self.kind.__name__
            )
        try:
            return self.parse(str(value))
        except ConfigurationError as error:
            raise ConfigurationError(
                f"The option {self.key} cannot be parsed: {error.message}",
                seen=error.seen,
                expected=error.expected or self.kind.__name__,
            ) from None

    def _name(self, value: Any) -> str:
        for name in self.names:
            if str(value).lower().replace("-", "_") == name.lower():
                return name
        raise ConfigurationError(
            f"The option {self.key} has an unknown value", seen=str(value), expected=" or ".join(self.names)
        )


def _bounded(bits: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = parse_integer(text)
        if not -(1 << bits - 1) <= number < 1 << bits - 1:
            raise ConfigurationError("The number is too large", seen=text, expected=f"an integer of {bits} bits")
        return number

    return parse


class ConfigOptions:
    """Starts the definition of an option.

    >>> ConfigOptions.key("tmp.dir").string_type().default_value("/tmp").default
    '/tmp'
    """

    @staticmethod
    def key(key: str) -> ConfigOptions.OptionBuilder:
        """Start an option with its key.

        >>> ConfigOptions.key("parallelism.default").int_type().default_value(1).key
        'parallelism.default'
        """
        return ConfigOptions.OptionBuilder(key)

    class OptionBuilder:
        """An option whose type is not yet set.

        >>> ConfigOptions.OptionBuilder("a").boolean_type().default_value(True).read("false")
        False
        """

        def __init__(self, key: str, *fallback_keys: str) -> None:
            """Start an option with its key, and with older keys, which apply if the key itself is not set."""
            self._key = key
            self._fallback_keys = fallback_keys

        def _typed(
            self, parse: Callable[[str], T], kind: type, names: tuple[str, ...] = ()
        ) -> ConfigOptions.TypedConfigOptionBuilder[T]:
            return ConfigOptions.TypedConfigOptionBuilder(self._key, parse, kind, names, self._fallback_keys)

        def boolean_type(self) -> ConfigOptions.TypedConfigOptionBuilder[bool]:
            """Set the type to ``bool``."""
            return self._typed(parse_boolean, bool)

        def int_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            """Set the type to an ``int`` of 32 bits."""
            return self._typed(_bounded(32), int)

        def long_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            """Set the type to an ``int`` of 64 bits."""
            return self._typed(_bounded(64), int)

        def float_type(self) -> ConfigOptions.TypedConfigOptionBuilder[float]:
            """Set the type to ``float``."""
            return self._typed(parse_float, float)

        def double_type(self) -> ConfigOptions.TypedConfigOptionBuilder[float]:
            """Set the type to ``float``."""
            return self._typed(parse_float, float)

        def string_type(self) -> ConfigOptions.TypedConfigOptionBuilder[str]:
            """Set the type to ``str``."""
            return self._typed(str, str)

        def enum_type(self, *names: str) -> ConfigOptions.TypedConfigOptionBuilder[str]:
            """Set the type to one of these names, in any case.

            >>> ConfigOptions.key("level").enum_type("LOW", "HIGH").no_default_value().read("high")
            'HIGH'
            """
            return self._typed(str, str, names)

        def duration_type(self) -> ConfigOptions.TypedConfigOptionBuilder[Duration]:
            """Set the type to ``Duration``, written as ``10 s``."""
            return self._typed(parse_duration, Duration)

        def memory_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            """Set the type to a number of bytes, written as ``64 mb``."""
            return self._typed(parse_memory, int)

        def list_type(self) -> ConfigOptions.TypedConfigOptionBuilder[list[Any]]:
            """Set the type to a list, written as ``a;b``."""
            return self._typed(parse_list, list)

        def map_type(self) -> ConfigOptions.TypedConfigOptionBuilder[dict[str, str]]:
            """Set the type to a map, written as ``a:1,b:2``."""
            return self._typed(parse_map, dict)

    class TypedConfigOptionBuilder(Generic[T]):
        """An option whose default is not yet set.

        >>> ConfigOptions.TypedConfigOptionBuilder("a", parse_memory, int).default_value(1024).read("1 mb")
        1048576
        """

        def __init__(
            self,
            key: str,
            parse: Callable[[str], T],
            kind: type,
            names: tuple[str, ...] = (),
            fallback_keys: tuple[str, ...] = (),
        ) -> None:
            self._option = ConfigOption(key, parse, kind, fallback_keys=fallback_keys, names=names)

        def default_value(self, value: T) -> ConfigOption[T]:
            """Return the option with a default.

            >>> ConfigOptions.key("a").int_type().default_value("x")
            Traceback (most recent call last):
            ...
            headrace.errors.ConfigurationError: The option a cannot be parsed: Expected an integer ...
              seen:     'x'
              expected: int
            """
            return dataclasses.replace(self._option, default=self._option.read(value))

        def no_default_value(self) -> ConfigOption[T]:
            """Return the option without a default.

            >>> ConfigOptions.key("a").int_type().no_default_value().default is None
            True
            """
            return self._option
