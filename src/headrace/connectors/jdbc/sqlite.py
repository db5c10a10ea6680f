"""SQLite, which comes with Python. One writer at a time: the others wait."""

from __future__ import annotations

import datetime
import decimal
import sqlite3
import uuid
from typing import Any

from headrace.connectors.jdbc.database import Database, unknown_value
from headrace.types.time import Instant

_WAIT_SECONDS = 60.0


class SqliteDatabase(Database):
    """A database in a file."""

    mark = "?"
    blob = "BLOB"
    locking = ""  # a transaction locks the whole file

    def _connect(self) -> Any:
        path = self.address.url.removeprefix("jdbc:sqlite:")
        return sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False)

    def _begin(self) -> Any:
        cursor = self._connection.cursor()
        cursor.execute("BEGIN IMMEDIATE")
        return cursor

    def _is_passing(self, error: Exception) -> bool:
        return isinstance(error, sqlite3.OperationalError) and any(
            word in str(error) for word in ("locked", "busy", "disk I/O", "unable to open", "full")
        )

    def _adapt(self, value: Any) -> Any:
        """Return a number, a string or bytes: times and decimals become strings, times in ISO form."""
        if isinstance(value, datetime.datetime):
            return value.isoformat(" ")
        if isinstance(value, (datetime.date, datetime.time)):
            return value.isoformat()
        if isinstance(value, (decimal.Decimal, uuid.UUID)):
            return str(value)
        if isinstance(value, Instant):
            return instant_as_datetime(value).isoformat(" ")
        if isinstance(value, (int, float, str, bytes, bytearray)):
            return value
        raise unknown_value(value, "SQLite")

    def create_table(self, name: str, columns: str) -> None:
        self.transaction(lambda cursor: cursor.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns})"))


def instant_as_datetime(value: Instant) -> datetime.datetime:
    """Return a point in time with Python's microseconds.

    >>> instant_as_datetime(Instant(1, 500_000_000)).isoformat()
    '1970-01-01T00:00:01.500000+00:00'
    """
    start = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return start + datetime.timedelta(seconds=value.seconds, microseconds=value.nanos // 1000)
