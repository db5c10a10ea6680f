"""The tables that recorded calls read: columns of every type, with ordinary values, extreme values and nulls.

All values are strings that SQL casts to the column's type, so that both engines build the same tables and neither can
compute a call before it runs. The last row of each table is null.
"""

from __future__ import annotations

from dataclasses import dataclass

Text = str | None


@dataclass(frozen=True)
class Column:
    """A column: the SQL of its value over a string, written `?`, and the strings of its rows."""

    name: str
    sql: str
    texts: tuple[Text, ...]


@dataclass(frozen=True)
class Table:
    """A table and the time zone of the session that reads it."""

    name: str
    columns: tuple[Column, ...]
    time_zone: str = "UTC"

    def rows(self) -> list[list[Text]]:
        """Return the strings by row."""
        return [list(row) for row in zip(*(each.texts for each in self.columns), strict=True)]


def cast(name: str, data_type: str, *texts: Text) -> Column:
    """Return a column of a type that strings can be cast to."""
    return Column(name, f"CAST(? AS {data_type})", (*texts, None))


NUMBERS = Table(
    "numbers",
    (
        cast("ti", "TINYINT", "5", "127", "-128", "0"),
        cast("si", "SMALLINT", "7", "32767", "-32768", "0"),
        cast("i", "INT", "42", "2147483647", "-2147483648", "0"),
        cast("bi", "BIGINT", "3", "9223372036854775807", "-9223372036854775808", "0"),
        cast("f", "FLOAT", "1.5", "3.4E38", "-0.1", "0"),
        cast("d", "DOUBLE", "2.5", "1.0E300", "-0.1", "0"),
        cast("p5", "DECIMAL(5, 2)", "9.99", "999.99", "-0.05", "0"),
        cast("p10", "DECIMAL(10, 3)", "123.456", "9999999.999", "-1.5", "0"),
        cast("p20", "DECIMAL(20, 10)", "12345.678", "9999999999.9999999999", "-0.0000000001", "0"),
        cast("p38", "DECIMAL(38, 0)", "12345678901234567890", "99999999999999999999999999999999999999", "-1", "0"),
        cast("q38", "DECIMAL(38, 18)", "1.000000000000000005", "0.5", "-2.5", "0"),
        cast("n", "INT", "2", "-1", "1", "-2"),
        cast("b", "BOOLEAN", "true", "false", "true", "false"),
    ),
)

_TEXTS: tuple[str, ...] = (
    *(
        "",
        " ",
        "0",
        "1",
        "-1",
        "+1",
        " 42 ",
        "1.9",
        "-1.9",
        ".5",
        "-.5",
        "1.",
        ".",
        "-",
        "1e2",
        "1E-2",
        "0x10",
        "1_000",
    ),
    *(
        "128",
        "-129",
        "32768",
        "2147483648",
        "-2147483649",
        "9223372036854775808",
        "99999999999999999999",
        "1.2.3",
        "1 2",
    ),
    *("12345678901234567890123456789012345678", "123456789012345678901234567890123456789", "0.000000000000000000001"),
    *(
        "99999999.995",
        "99999999.994",
        "0.005",
        "-0.005",
        "1.005",
        "1d",
        "1f",
        "1L",
        "1e400",
        "-1e400",
        "1e-400",
        "1e39",
    ),
    *("NaN", "nan", "Infinity", "-Infinity", "inf", "3.4028235e38", "16777217", "0.1", "-0", "-0.0", "abc", "\u0661"),
    *(
        "t",
        "T",
        "true",
        "TRUE",
        " true ",
        "TRUE ",
        "f",
        "false",
        "False",
        "y",
        "Y",
        "yes",
        "n",
        "no",
        "on",
        "off",
        "tru",
    ),
    *(
        "2021-09-24",
        "2021-9-4",
        "2021",
        "2021-09",
        "2021-13-01",
        "2021-02-29",
        "2020-02-29",
        "2021-09-31",
        "0000-01-01",
    ),
    *("0001-01-01", "9999-12-31", "10000-01-01", "-2021-01-01", "99-1-1", "2021/09/24", "20210924", " 2021-09-24 "),
    *("2021-09-24 12:34:56", "2021-09-24 12:34:56.1", "2021-09-24 12:34:56.123456", "2021-09-24 12:34:56.123456789"),
    *("2021-09-24T12:34:56", "2021-09-24T12:34:56.123", "2021-09-24 12:34", "2021-09-24 12", "2021-09-24 25:00:00"),
    *("2021-09-24 12:34:60", "2021-09-24 24:00:00", "2021-09-24 1:2:3", "2021-09-24 12:34:56Z", "2021-09-24T12:34:56Z"),
    *("2021-09-24 12:34:56+01:00", "2021-09-24 12:34:56.123+01:00", "1969-12-31 23:59:59.9", "2021-03-28 02:30:00"),
    *("2021-10-31 02:30:00", "12:34:56", "12:34", "12", "12:34:56.1", "12:34:56.123", "12:34:56.123456789", "24:00:00"),
    *(
        "1:2:3",
        "12:60:00",
        "12:34:60",
        "-1:00:00",
        " 12:34:56 ",
        "12:34:56Z",
        "123456",
        "hello world",
        "h\u00e4\u00df\u20ac",
    ),
)
TEXTS = Table("texts", (Column("s", "?", (*_TEXTS, None)), Column("v", "CAST(? AS VARCHAR(40))", (*_TEXTS, None))))

_VALUES = (
    cast("b", "BOOLEAN", "true", "false", "true"),
    cast("ti", "TINYINT", "5", "-128", "1"),
    cast("si", "SMALLINT", "7", "-32768", "1"),
    cast("i", "INT", "42", "-2147483648", "1"),
    cast("bi", "BIGINT", "3", "-9223372036854775808", "1"),
    cast("f", "FLOAT", "1.5", "-123.456", "1"),
    cast("d", "DOUBLE", "2.5", "9234567891.12345", "1"),
    cast("p", "DECIMAL(10, 3)", "123.456", "-1.5", "1"),
    cast("c", "CHAR(5)", "ab", "abcde", "1"),
    cast("v", "VARCHAR(10)", "ab", "", "1"),
    cast("s", "STRING", "2021-09-24", "12:34:56", "1"),
    cast("bn", "BINARY(3)", "ab", "abc", "1"),
    cast("vb", "BYTES", "ab", "", "1"),
    cast("dt", "DATE", "2021-09-24", "1969-12-31", "2000-02-29"),
    cast("t0", "TIME", "12:34:56", "00:00:00", "23:59:59"),
    cast("t3", "TIME(3)", "12:34:56.789", "00:00:00.001", "23:59:59.999"),
    cast("ts0", "TIMESTAMP(0)", "2021-09-24 12:34:56", "1969-12-31 23:59:59", "2000-02-29 00:00:00"),
    cast("ts3", "TIMESTAMP(3)", "2021-09-24 12:34:56.789", "1969-12-31 23:59:59.999", "2000-02-29 00:00:00"),
    cast("ts6", "TIMESTAMP(6)", "2021-09-24 12:34:56.789123", "1969-12-31 23:59:59.999999", "2000-02-29 00:00:00"),
    cast("lz0", "TIMESTAMP_LTZ(0)", "2021-09-24 12:34:56", "1969-12-31 23:59:59", "2000-02-29 00:00:00"),
    cast("lz3", "TIMESTAMP_LTZ(3)", "2021-09-24 12:34:56.789", "1969-12-31 23:59:59.999", "2000-02-29 00:00:00"),
    cast("lz6", "TIMESTAMP_LTZ(6)", "2021-09-24 12:34:56.789123", "1969-12-31 23:59:59.999999", "2000-02-29 00:00:00"),
    Column("ym", "INTERVAL '1' MONTH * CAST(? AS INT)", ("14", "-1", "0", None)),
    Column("ds", "INTERVAL '0.001' SECOND * CAST(? AS INT)", ("90061001", "-1", "86400000", None)),
    Column("ai", "ARRAY[CAST(? AS INT), 7]", ("1", "-5", "0", None)),
    Column("ax", "ARRAY[?, 'x']", ("ab", "", "1", None)),
    Column("m", "MAP[COALESCE(?, 'k'), 7, 'other', CAST(NULL AS INT)]", ("a", "", "1", None)),
    Column("r", "ROW(CAST(? AS INT), 'x')", ("1", "-5", "0", None)),
    Column("rr", "ROW(ROW(CAST(? AS INT), 2.50), ARRAY[TRUE])", ("1", "-5", "0", None)),
)
VALUES = Table("values", _VALUES)
ZONED = Table("zoned", _VALUES, "America/New_York")
TABLES = (NUMBERS, TEXTS, VALUES, ZONED)
