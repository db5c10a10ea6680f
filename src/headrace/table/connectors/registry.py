"""All connectors by name. A connector is a module of this package with a factory `FACTORY`; it is imported when it is used."""

from __future__ import annotations

import difflib
from functools import cache
from importlib import import_module

from headrace.table.connectors.base import ConnectorContext, TableFactory
from headrace.table.errors import SqlNotSupportedError, SqlValidationError

_MODULES = {
    "blackhole": "blackhole",
    "datagen": "datagen",
    "filesystem": "filesystem",
    "print": "print_sink",
}
_LATER = (
    "kafka",
    "upsert-kafka",
    "jdbc",
    "elasticsearch-7",
    "elasticsearch-6",
    "hbase-2.2",
    "mysql-cdc",
    "postgres-cdc",
)


@cache
def factory(identifier: str) -> TableFactory:
    """Return the factory of a connector."""
    module = _MODULES.get(identifier)
    if module is not None:
        found: TableFactory = import_module(f"headrace.table.connectors.{module}").FACTORY
        return found
    if identifier in _LATER:
        raise SqlNotSupportedError(
            f"There is no table connector '{identifier}' in this version",
            expected=f"one of {', '.join(sorted(_MODULES))}",
            remedy="read or write it with the DataStream connector and from_data_stream() or to_data_stream()",
        )
    near = difflib.get_close_matches(identifier, _MODULES, 1)
    raise SqlValidationError(
        f"Could not find any factory for identifier '{identifier}' of a connector",
        expected=f"one of {', '.join(sorted(_MODULES))}",
        remedy=f"did you mean '{near[0]}'?" if near else None,
    )


def factory_of(context: ConnectorContext) -> TableFactory:
    """Return the factory of a table, by its option `connector`."""
    identifier = context.options.get("connector")
    if identifier is None:
        raise SqlValidationError(
            f"Table options of '{context.label}' do not contain an option key 'connector' for discovering a connector",
            expected=f"'connector' = one of {', '.join(sorted(_MODULES))}",
        )
    return factory(identifier)
