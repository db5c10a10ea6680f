"""TableDescriptor: a table with a connector, declared in Python instead of DDL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headrace.config.config_options import ConfigOption
from headrace.config.option_values import value_text
from headrace.errors import TypeMismatchError

if TYPE_CHECKING:
    from typing_extensions import Self

    from headrace.table.schema import Schema

__all__ = ["FormatDescriptor", "TableDescriptor"]


def _key(option: object) -> str:
    if isinstance(option, ConfigOption):
        return str(option.key)
    if isinstance(option, str):
        return option
    raise TypeMismatchError("The key of an option is a string or a ConfigOption", seen=option)


def _text(value: object) -> str:
    return value if isinstance(value, str) else value_text(value)


@dataclass(frozen=True)
class FormatDescriptor:
    """A format with its options.

    >>> FormatDescriptor.for_format("json").option("ignore-parse-errors", "true").build()
    json[{ignore-parse-errors=true}]
    """

    format: str
    options: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def for_format(format: str) -> FormatDescriptor.Builder:
        """Return a builder for a format."""
        return FormatDescriptor.Builder(format)

    def get_format(self) -> str:
        """Return the name of the format."""
        return self.format

    def get_options(self) -> dict[str, str]:
        """Return the options, without the name of the format before them."""
        return dict(self.options)

    def __repr__(self) -> str:
        """Return the name and the options."""
        pairs = ", ".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.format}[{{{pairs}}}]"

    class Builder:
        """Collects options of a format.

        >>> FormatDescriptor.Builder("csv").build().get_format()
        'csv'
        """

        def __init__(self, format: str) -> None:
            """Programs call `FormatDescriptor.for_format`."""
            self._format, self._options = format, dict[str, str]()

        def option(self, key: str | ConfigOption[Any], value: Any) -> Self:
            """Set an option."""
            self._options[_key(key)] = _text(value)
            return self

        def build(self) -> FormatDescriptor:
            """Return the format."""
            return FormatDescriptor(self._format, dict(self._options))


@dataclass(frozen=True)
class TableDescriptor:
    """A table with a connector: schema, options, partitions.

    >>> from headrace.table import DataTypes, Schema
    >>> schema = Schema.new_builder().column("a", DataTypes.INT()).build()
    >>> table = TableDescriptor.for_connector("datagen").schema(schema).option("number-of-rows", "10").build()
    >>> table.get_options()
    {'connector': 'datagen', 'number-of-rows': '10'}
    """

    schema: Schema | None = None
    options: dict[str, str] = field(default_factory=dict)
    partition_keys: tuple[str, ...] = ()
    comment: str | None = None

    @staticmethod
    def for_connector(connector: str) -> TableDescriptor.Builder:
        """Return a builder for a connector."""
        return TableDescriptor.Builder(connector)

    def get_schema(self) -> Schema | None:
        """Return the schema, None if the connector or the query determines it."""
        return self.schema

    def get_options(self) -> dict[str, str]:
        """Return the options."""
        return dict(self.options)

    def get_partition_keys(self) -> list[str]:
        """Return the partition columns."""
        return list(self.partition_keys)

    def get_comment(self) -> str | None:
        """Return the comment."""
        return self.comment

    class Builder:
        """Collects the parts of a table.

        >>> TableDescriptor.Builder("print").comment("all rows").build().get_comment()
        'all rows'
        """

        def __init__(self, connector: str) -> None:
            """Programs call `TableDescriptor.for_connector`."""
            self._schema: Schema | None = None
            self._options = {"connector": connector}
            self._partition_keys: tuple[str, ...] = ()
            self._comment: str | None = None

        def schema(self, schema: Schema) -> Self:
            """Set the columns."""
            self._schema = schema
            return self

        def option(self, key: str | ConfigOption[Any], value: Any) -> Self:
            """Set an option of the connector."""
            self._options[_key(key)] = _text(value)
            return self

        def format(self, format: str | FormatDescriptor, format_option: ConfigOption[Any] | str | None = None) -> Self:
            """Set the format, with its options; `format_option` is its key if that is not `format`."""
            key = "format" if format_option is None else _key(format_option)
            chosen = FormatDescriptor(format) if isinstance(format, str) else format
            self._options[key] = chosen.format
            prefix = key.removesuffix("format") + chosen.format
            self._add(prefix, chosen.options)
            return self

        def _add(self, prefix: str, options: Mapping[str, str]) -> None:
            for key, value in options.items():
                self._options[f"{prefix}.{key}"] = value

        def partitioned_by(self, *partition_keys: str) -> Self:
            """Set the partition columns."""
            self._partition_keys = partition_keys
            return self

        def comment(self, comment: str) -> Self:
            """Set the comment."""
            self._comment = comment
            return self

        def build(self) -> TableDescriptor:
            """Return the table."""
            return TableDescriptor(self._schema, dict(self._options), self._partition_keys, self._comment)
