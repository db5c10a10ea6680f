"""The common interface of the databases: connections, transactions, many rows at once.

Decides nothing about sinks. `open_database` chooses by the URL; each kind has its own file, which alone imports its driver.
"""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from headrace.connectors.jdbc.statement import Statement
from headrace.errors import ConfigurationError, HeadraceError, InvalidProgramError, shortened

T = TypeVar("T")
Rows = Sequence[tuple[Any, ...]]

_PLAIN = frozenset({int, float, str, bytes, bool, type(None)})
_FIRST_PAUSE = 0.2
_MYSQL = ("com.mysql.cj.jdbc.Driver", "com.mysql.jdbc.Driver", "org.mariadb.jdbc.Driver")
_DRIVERS = {
    "postgresql": ("org.postgresql.Driver",),
    "sqlite": ("org.sqlite.JDBC",),
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
}


class DatabaseError(HeadraceError):
    """The database is unreachable or refused a request. The transaction has no effect, unless the connection broke at its
    end.

    >>> DatabaseError("No connection").code
    'DATABASE'
    """

    code = "DATABASE"


class RowRefusedError(DatabaseError):
    """The database refuses a row: a retry would not help.

    >>> RowRefusedError("no such table: t").code
    'ROW_REFUSED'
    """

    code = "ROW_REFUSED"


@dataclass(frozen=True)
class Address:
    """Where a database is, and the user."""

    url: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    @property
    def shown(self) -> str:
        """The URL without secrets."""
        return re.sub(r"(//[^/@:]*):[^/@]*@", r"\1:***@", self.url.split("?", maxsplit=1)[0])


class Database(ABC):
    """A connection, opened at the first use and again after it broke."""

    mark: str
    """The placeholder of a parameter."""
    blob: str
    """The type of a column of bytes."""
    locking: str
    """The clause that makes a SELECT lock the rows that it returns."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._connection: Any = None

    def transaction(self, work: Callable[[Any], T]) -> T:
        """Run `work(cursor)` in one transaction: all of it, or nothing if it raises."""
        try:
            if self._connection is None:
                self._connection = self._connect()
            cursor = self._begin()
            result = work(cursor)
            self._connection.commit()
            return result
        except BaseException as error:
            self._give_up()
            if isinstance(error, HeadraceError) or not isinstance(error, Exception):
                raise
            raise DatabaseError(f"The database failed: {_first_line(error)}", seen=self.address.shown) from error

    def insert(self, sql: str, rows: Rows, written: str) -> None:
        """Run the statement for each row, in one transaction; an error names the statement as `written`, and the row."""
        self.transaction(lambda cursor: self.run(cursor, sql, rows, written))

    @staticmethod
    def retrying(work: Callable[[], T], retries: int) -> T:
        """Run `work` and retry it after a temporary failure, with growing pauses."""
        pause = _FIRST_PAUSE
        for _ in range(retries):
            try:
                return work()
            except RowRefusedError:
                raise
            except DatabaseError:
                time.sleep(pause)
                pause *= 2
        return work()

    def run(self, cursor: Any, sql: str, rows: Rows, written: str) -> None:
        """Run the statement for each row inside a transaction."""
        try:
            cursor.executemany(sql, rows)
        except Exception as error:
            if self._is_passing(error):
                raise
            raise self._refusal(sql, rows, written, error) from error

    def _refusal(self, sql: str, rows: Rows, written: str, error: Exception) -> RowRefusedError:
        """Find the row: run them one by one, in a transaction that is rolled back."""
        culprit: tuple[Any, ...] | None = None
        self._give_up()
        try:
            self._connection = self._connect()
            cursor = self._begin()
            for row in rows:
                try:
                    cursor.execute(sql, row)
                except Exception as found:
                    culprit, error = row, found
                    break
        except Exception:  # the first error is enough
            culprit = None
        finally:
            self._give_up()
        return RowRefusedError(
            f"The database refuses a row: {_first_line(error)}",
            seen=f"{written} with {shortened(culprit)}" if culprit is not None else f"{written}, {len(rows)} rows",
            remedy="check the table and the statement; none of these rows has been written",
        )

    def _give_up(self) -> None:
        """Close the connection, and with it the transaction."""
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.rollback()
            except Exception:  # noqa: S110 - it is broken: closing it is all that can be done
                pass
            connection.close()

    def close(self) -> None:
        """Disconnect."""
        self._give_up()

    # -- what differs -----------------------------------------------------------------------------------------------

    @abstractmethod
    def _connect(self) -> Any:
        """Open a connection."""

    @abstractmethod
    def _begin(self) -> Any:
        """Return a cursor in a new transaction."""

    @abstractmethod
    def _is_passing(self, error: Exception) -> bool:
        """Say whether the error is temporary: a lost connection, a lock."""

    def adapt(self, value: Any) -> Any:
        """Return a value as the driver takes it; raise if the database cannot store it."""
        return value if type(value) in _PLAIN else self._adapt(value)

    @abstractmethod
    def _adapt(self, value: Any) -> Any:
        """Do the same for values that are not plain."""

    @abstractmethod
    def create_table(self, name: str, columns: str) -> None:
        """Create a table unless it exists; several processes may do so at the same time."""


def database_kind(address: Address, driver: str | None = None) -> str:
    """Return the kind of database that the URL names; check the rest.

    >>> database_kind(Address("jdbc:sqlite:/tmp/db"))
    'sqlite'
    """
    scheme, _, rest = address.url.removeprefix("jdbc:").partition(":")
    if not address.url.startswith("jdbc:") or scheme not in _DRIVERS or not rest:
        raise ConfigurationError(
            "The URL names no database that headrace can write to",
            seen=address.shown,
            expected="jdbc:postgresql://host:port/database, jdbc:mysql://..., jdbc:mariadb://... or jdbc:sqlite:/path",
        )
    if driver is not None and driver not in _DRIVERS[scheme]:
        raise ConfigurationError(
            "The driver does not fit the URL", seen=driver, expected=f"{' or '.join(_DRIVERS[scheme])}, or none"
        )
    if scheme == "sqlite":
        if rest == ":memory:":
            raise ConfigurationError(
                "A database in memory is seen by one process only", seen=address.url, remedy="use a file"
            )
        if address.user or address.password:
            raise ConfigurationError("SQLite knows no users and no passwords", seen=address.shown)
    return scheme


def open_database(address: Address) -> Database:
    """Return the database at this address; it connects at the first use."""
    kind = database_kind(address)
    if kind == "sqlite":
        from headrace.connectors.jdbc.sqlite import SqliteDatabase

        return SqliteDatabase(address)
    if kind in ("mysql", "mariadb"):
        from headrace.connectors.jdbc.mysql import MysqlDatabase

        return MysqlDatabase(address)
    from headrace.connectors.jdbc.postgresql import PostgresDatabase

    return PostgresDatabase(address)


def statement_for(sql: str, address: Address) -> Statement:
    """Parse a statement in the dialect of the database at this address."""
    return Statement(sql, mysql=database_kind(address) in ("mysql", "mariadb"))


def unknown_value(value: Any, database: str) -> InvalidProgramError:
    """Return the error for a value that the database cannot store. Raised early: a commit would be too late."""
    return InvalidProgramError(
        f"A row holds a value that {database} does not take",
        seen=value,
        expected="numbers, strings, bytes, dates and times, decimals, UUIDs",
        remedy="turn it into one of these in a map() before the sink",
    )


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]
