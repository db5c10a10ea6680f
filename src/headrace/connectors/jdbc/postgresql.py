"""PostgreSQL through psycopg 3: the extra `postgres`."""

from __future__ import annotations

import datetime
import decimal
import uuid
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from headrace.connectors.jdbc.database import Address, Database, unknown_value
from headrace.connectors.jdbc.sqlite import instant_as_datetime
from headrace.errors import ConfigurationError
from headrace.types.time import Instant

if TYPE_CHECKING:
    from types import ModuleType

_PARAMETERS = {"ApplicationName": "application_name", "connectTimeout": "connect_timeout"}
"""Names of JDBC's driver, and those of libpq."""
_VALUES = (
    int,
    float,
    str,
    bytes,
    bytearray,
    decimal.Decimal,
    uuid.UUID,
    datetime.date,
    datetime.time,
    datetime.timedelta,
)
_TABLES_LOCK = 0x6865_6164  # any number: one lock for all who create tables


class PostgresDatabase(Database):
    """A database on a server."""

    mark = "%s"
    blob = "bytea"
    locking = "FOR UPDATE"

    def _connect(self) -> Any:
        given = {"user": self.address.user, "password": self.address.password}
        return _psycopg().connect(connection_uri(self.address), **{k: v for k, v in given.items() if v is not None})

    def _begin(self) -> Any:
        return self._connection.cursor()

    def _is_passing(self, error: Exception) -> bool:
        psycopg = _psycopg()
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)

    def _adapt(self, value: Any) -> Any:
        if isinstance(value, Instant):
            return instant_as_datetime(value)
        if isinstance(value, list):
            return [self.adapt(element) for element in value]
        if isinstance(value, _VALUES):
            return value
        raise unknown_value(value, "PostgreSQL")

    def create_table(self, name: str, columns: str) -> None:
        def work(cursor: Any) -> None:
            # A user who may not create tables only needs to see it.
            if cursor.execute("SELECT to_regclass(%s)", (name,)).fetchone()[0] is None:
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", (_TABLES_LOCK,))
                cursor.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns})")

        self.transaction(work)


def connection_uri(address: Address) -> str:
    """Return JDBC's URL as libpq takes it.

    >>> connection_uri(Address("jdbc:postgresql://db:5432/shop?ApplicationName=orders&sslmode=require"))
    'postgresql://db:5432/shop?application_name=orders&sslmode=require'
    >>> connection_uri(Address("jdbc:postgresql:shop"))
    'postgresql:///shop'
    """
    place, _, query = address.url.removeprefix("jdbc:").partition("?")
    if not place.startswith("postgresql://"):
        place = "postgresql:///" + place.removeprefix("postgresql:").lstrip("/")
    parameters = []
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name == "currentSchema":
            parameters.append(("options", f"-csearch_path={value}"))
        else:
            parameters.append((_PARAMETERS.get(name, name), value))
    return f"{place}?{urlencode(parameters)}" if parameters else place


def _psycopg() -> ModuleType:
    try:
        import psycopg
    except ImportError as error:
        raise ConfigurationError(
            "The PostgreSQL driver is not installed here",
            seen=str(error),
            remedy="pip install 'headrace[postgres]', in the driver and where the executors run",
        ) from error
    return psycopg
