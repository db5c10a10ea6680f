"""MySQL and MariaDB through PyMySQL: the extra `mysql`.

Sessions are strict, in UTC, and see what others commit: a value that does not fit is refused and not truncated, a point in
time does not depend on the server's clock, and a session that waited for a lock sees what its owner did.
"""

from __future__ import annotations

import datetime
import decimal
import math
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from headrace.connectors.jdbc.database import Address, Database, unknown_value
from headrace.connectors.jdbc.sqlite import instant_as_datetime
from headrace.errors import ConfigurationError
from headrace.types.time import Instant

if TYPE_CHECKING:
    from types import ModuleType

_STRICT = "SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_TRANS_TABLES'), time_zone = '+00:00'"
_ISOLATION = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"
_VALUES = (int, float, str, bytes, bytearray, decimal.Decimal, datetime.date, datetime.time, datetime.timedelta)
# Codes of temporary errors: the connection is lost, the server is full, starts or stops, a lock timed out.
_PASSING = frozenset(
    {
        1020, 1040, 1053, 1077, 1158, 1159, 1160, 1161, 1203, 1205, 1213, 1226, 1290, 1317, 1836, 1927,
        2002, 2003, 2006, 2013, 2014, 2055, 4031,
    }
)  # fmt: skip
_NO_TLS: dict[str, Any] = {"ssl_disabled": True}
_ANY_TLS: dict[str, Any] = {"ssl": {"verify_mode": "none", "check_hostname": False}}
_KNOWN_AUTHORITY: dict[str, Any] = {"ssl_verify_cert": True}
_KNOWN_SERVER: dict[str, Any] = {"ssl_verify_cert": True, "ssl_verify_identity": True}
_TLS: dict[str, dict[str, Any]] = {
    "preferred": {},
    **dict.fromkeys(("false", "disable", "disabled"), _NO_TLS),
    **dict.fromkeys(("true", "trust", "required"), _ANY_TLS),
    **dict.fromkeys(("verify-ca", "verify_ca"), _KNOWN_AUTHORITY),
    **dict.fromkeys(("verify-full", "verify_identity"), _KNOWN_SERVER),
}
_SECONDS = {"connecttimeout": "connect_timeout", "sockettimeout": "read_timeout"}
_TEXTS = {"user": "user", "password": "password", "localsocket": "unix_socket", "serversslcert": "ssl_ca"}
_TLS_NAMES = ("sslmode", "usessl")


class MysqlDatabase(Database):
    """A database on a server."""

    mark = "%s"
    blob = "LONGBLOB"
    locking = "FOR UPDATE"

    def _connect(self) -> Any:
        connection = _pymysql().connect(**connection_arguments(self.address), autocommit=False)
        with connection.cursor() as cursor:
            cursor.execute(_STRICT)
            cursor.execute(_ISOLATION)
        connection.commit()
        return connection

    def _begin(self) -> Any:
        self._connection.begin()
        return self._connection.cursor()

    def _is_passing(self, error: Exception) -> bool:
        driver = _pymysql()
        if isinstance(error, driver.err.InterfaceError | OSError):
            return True
        return isinstance(error, driver.err.MySQLError) and bool(error.args) and error.args[0] in _PASSING

    def adapt(self, value: Any) -> Any:
        """Return the value as the driver takes it; refuse infinite numbers, which MySQL does not have."""
        if type(value) is float and not math.isfinite(value):
            raise unknown_value(value, "MySQL")
        return super().adapt(value)

    def _adapt(self, value: Any) -> Any:
        if isinstance(value, Instant):
            value = instant_as_datetime(value)
        if isinstance(value, datetime.datetime) and value.tzinfo is not None:
            return value.astimezone(datetime.timezone.utc).replace(tzinfo=None)  # the session's time zone
        if isinstance(value, uuid.UUID):
            return str(value)
        if isinstance(value, _VALUES):
            return value
        raise unknown_value(value, "MySQL")

    def create_table(self, name: str, columns: str) -> None:
        def work(cursor: Any) -> None:
            # A user who may not create tables only needs to see it.
            cursor.execute(
                "SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = %s", (name,)
            )
            if cursor.fetchone() is None:
                cursor.execute(
                    f"CREATE TABLE IF NOT EXISTS {name} ({columns}) "
                    "ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
                )

        self.transaction(work)


def connection_arguments(address: Address) -> dict[str, Any]:
    """Return JDBC's URL as PyMySQL's arguments; raise if it names no single server.

    >>> connection_arguments(Address("jdbc:mysql://db:3307/shop?useSSL=false", "app"))["port"]
    3307
    >>> connection_arguments(Address("jdbc:mariadb://db/shop?connectTimeout=3000"))["connect_timeout"]
    3
    """
    parts, parameters = _parts(address)
    arguments: dict[str, Any] = {
        "host": parts.hostname or "localhost",
        "port": parts.port or 3306,
        "database": unquote(parts.path.lstrip("/")) or None,
        "user": unquote(parts.username) if parts.username else None,
        "password": unquote(parts.password) if parts.password else "",
        "charset": "utf8mb4",
    }
    for name, value in parameters.items():
        if name in _SECONDS:
            arguments[_SECONDS[name]] = max(1, math.ceil(_milliseconds(name, value) / 1000))
        elif name in _TEXTS:
            arguments[_TEXTS[name]] = value
        elif name in _TLS_NAMES:
            arguments.update(_tls(name, value))
    if address.user is not None:
        arguments["user"] = address.user
    if address.password is not None:
        arguments["password"] = address.password
    arguments["password"] = arguments["password"].encode()  # PyMySQL would encode a string as Latin-1
    return arguments


def unused_parameters(address: Address) -> list[str]:
    """Return the parameters of a URL that only Java's driver uses.

    >>> unused_parameters(Address("jdbc:mysql://db/shop?user=app&rewriteBatchedStatements=true"))
    ['rewriteBatchedStatements']
    """
    query = urlsplit(address.url.removeprefix("jdbc:")).query
    used = {*_SECONDS, *_TEXTS, *_TLS_NAMES}
    return [name for name, _ in parse_qsl(query, keep_blank_values=True) if name.lower() not in used]


def _parts(address: Address) -> tuple[Any, Mapping[str, str]]:
    parts = urlsplit(address.url.removeprefix("jdbc:"))
    try:
        one_server = parts.netloc and "," not in parts.netloc and parts.port != 0
    except ValueError:
        one_server = False
    if not one_server:
        raise ConfigurationError(
            "The URL must name one server", seen=address.shown, expected=f"jdbc:{parts.scheme}://host:port/database"
        )
    return parts, {name.lower(): value for name, value in parse_qsl(parts.query, keep_blank_values=True)}


def _tls(name: str, value: str) -> dict[str, Any]:
    try:
        return _TLS[value.lower()]
    except KeyError:
        raise ConfigurationError(
            "The URL asks for a kind of encryption that does not exist",
            seen=f"{name}={value}",
            expected="DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY",
        ) from None


def _milliseconds(name: str, value: str) -> int:
    if not value.isdecimal():
        raise ConfigurationError("A time in the URL must be a number of milliseconds", seen=f"{name}={value}")
    return int(value)


def _pymysql() -> ModuleType:
    try:
        import pymysql
    except ImportError as error:
        raise ConfigurationError(
            "The driver of MySQL and MariaDB is not installed here",
            seen=str(error),
            remedy="pip install 'headrace[mysql]', in the driver and where the executors run",
        ) from error
    driver: ModuleType = pymysql
    return driver
