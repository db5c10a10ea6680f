"""The aggregate calls whose answers are recorded, the table they read, and the queries they are asked in.

`?` in a query stands for a list of calls. Rows of the table with the same id are versions of one row: `updates` aggregates
the last version of each id, so that the aggregate functions must take back the earlier versions.
"""

from __future__ import annotations

from tables import Column, Table

_KEYS = ("a", "a", "b", "a", "b", "c", "a", "b")
_IDS = ("1", "2", "3", "4", "3", "5", "1", "6")


def column(name: str, data_type: str, *texts: str | None) -> Column:
    """Return a column."""
    return Column(name, f"CAST(? AS {data_type})", texts)


GROUPS = Table(
    "groups",
    (
        column("id", "INT", *_IDS),
        column("k", "STRING", *_KEYS),
        column("b", "BOOLEAN", "true", "false", None, "true", "true", None, "false", "false"),
        column("ti", "TINYINT", "100", "100", "-5", None, "7", None, "3", "-5"),
        column("si", "SMALLINT", "30000", "30000", "-5", None, "7", None, "3", "-5"),
        column("i", "INT", "2147483647", "2147483647", "-5", None, "7", None, "3", "-5"),
        column("bi", "BIGINT", "9223372036854775807", "1", "-5", None, "7", None, "3", "-5"),
        column("f", "FLOAT", "0.1", "0.2", "-1.5", None, "3.4E38", None, "0.3", "-1.5"),
        column("d", "DOUBLE", "0.1", "0.2", "-1.5", None, "1E300", None, "0.3", "-1.5"),
        column("p", "DECIMAL(10, 3)", "0.125", "9999999.999", "-1.5", None, "7", None, "1", "-1.5"),
        column("q", "DECIMAL(38, 18)", "0.125", "12345.000000000000000001", "-1.5", None, "7", None, "1", "-1.5"),
        column("s", "STRING", "x", "y", "", None, "x", None, "y", "z"),
        column("c", "CHAR(2)", "x", "yy", "zz", None, "xx", None, "y", "z"),
        column("dt", "DATE", "2021-09-24", "2020-01-01", "1969-12-31", None, "2000-02-29", None, "2021-09-24", "1969-12-31"),
        column("t0", "TIME", "12:34:56", "00:00:00", "23:59:59", None, "01:00:00", None, "12:34:56", "02:00:00"),
        column("ts", "TIMESTAMP(3)", "2021-09-24 12:34:56.789", "2020-01-01 00:00:00", "1969-12-31 23:59:59.999", None,
               "2000-02-29 00:00:00", None, "2021-09-24 12:34:56.789", "2000-01-01 00:00:00"),
        column("lz", "TIMESTAMP_LTZ(3)", "2021-09-24 12:34:56.789", "2020-01-01 00:00:00", "1969-12-31 23:59:59.999", None,
               "2000-02-29 00:00:00", None, "2021-09-24 12:34:56.789", "2000-01-01 00:00:00"),
        column("n", "INT", "1", "2", "1", "2", "3", "2", "3", "2"),
        Column("ai", "ARRAY[CAST(? AS INT), 7]", ("1", "1", "2", None, "2", None, "3", "1")),
        Column("r", "ROW(CAST(? AS INT), 'x')", ("1", "1", "2", None, "2", None, "3", "1")),
    ),
)  # fmt: skip
_NUMERIC = ("ti", "si", "i", "bi", "f", "d", "p", "q")
_ORDERED = (*_NUMERIC, "b", "s", "c", "dt", "t0", "ts", "lz")
_ALL = (*_ORDERED, "ai", "r")
_JSON = (
    *(
        "JSON_OBJECTAGG(KEY s VALUE i)",
        "JSON_OBJECTAGG(KEY s VALUE d NULL ON NULL)",
        "JSON_OBJECTAGG(KEY k VALUE s ABSENT ON NULL)",
    ),
    *(
        "JSON_ARRAYAGG(i)",
        "JSON_ARRAYAGG(s NULL ON NULL)",
        "JSON_ARRAYAGG(d ABSENT ON NULL)",
        "JSON_ARRAYAGG(p)",
        "JSON_ARRAYAGG(b)",
    ),
    *(
        "JSON_ARRAYAGG(dt)",
        "JSON_ARRAYAGG(ts)",
        "JSON_ARRAYAGG(ai)",
        "JSON_ARRAYAGG(r)",
        "JSON_OBJECTAGG(KEY 'k' || s VALUE ai)",
    ),
)
_PERCENTILES = (
    *(f"PERCENTILE({each}, 0.5)" for each in (*_NUMERIC, "s", "dt")),
    *(
        "PERCENTILE(n, 0)",
        "PERCENTILE(n, 1)",
        "PERCENTILE(n, 0.3)",
        "PERCENTILE(n, ARRAY[0.1, 0.5, 0.9])",
        "PERCENTILE(d, 0.25, n)",
    ),
    *(
        "PERCENTILE(d, ARRAY[0.25, 1], n)",
        "PERCENTILE(n, 1.5)",
        "PERCENTILE(n, -0.1)",
        "PERCENTILE(n, d)",
        "PERCENTILE(n)",
    ),
)
CALLS = list(
    dict.fromkeys(
        [
            "COUNT(*)",
            *(f"{name}({each})" for name in ("SUM", "AVG", "MIN", "MAX", "COUNT") for each in _ALL),
            *(
                f"{name}({word}{each})"
                for name in ("FIRST_VALUE", "LAST_VALUE", "COLLECT", "ARRAY_AGG")
                for each in _ALL
                for word in ("", "DISTINCT ")
                if not (word and each in ("ai", "r", "lz", "t0"))
            ),
            *(
                f"{name}({each})"
                for name in ("STDDEV", "STDDEV_POP", "STDDEV_SAMP", "VARIANCE", "VAR_POP", "VAR_SAMP")
                for each in (*_NUMERIC, "n", "s")
            ),
            *(f"{name}(DISTINCT {each})" for name in ("SUM", "AVG", "MIN", "COUNT") for each in (*_NUMERIC, "n", "s")),
            *(f"{name}(DISTINCT {each})" for name in ("VAR_SAMP", "STDDEV_POP", "MAX") for each in ("n", "d", "p")),
            *(
                f"{name}(DISTINCT {each}) FILTER (WHERE {condition})"
                for name in ("SUM", "AVG", "COUNT", "MAX", "VAR_SAMP")
                for each in ("n", "d", "p")
                for condition in ("b", "n > 1")
            ),
            *(
                f"{name}({each}) FILTER (WHERE b)"
                for name in ("SUM", "AVG", "MAX", "COUNT", "FIRST_VALUE", "STDDEV_POP")
                for each in ("i", "d", "p")
            ),
            *(
                "COUNT(*) FILTER (WHERE b)",
                "COUNT(*) FILTER (WHERE n > 5)",
                "SUM(i) FILTER (WHERE n > 5)",
                "COUNT(DISTINCT s) FILTER (WHERE b)",
            ),
            *(
                "LISTAGG(s)",
                "LISTAGG(s, '|')",
                "LISTAGG(DISTINCT s)",
                "LISTAGG(DISTINCT s, '|')",
                "LISTAGG(c)",
                "LISTAGG(s) FILTER (WHERE b)",
                "LISTAGG(i)",
            ),
            *(
                "COUNT(i, s)",
                "COUNT(DISTINCT i, s)",
                "SUM(i + n)",
                "SUM(CASE WHEN b THEN 1 ELSE 0 END)",
                "MAX(i) - MIN(i)",
                "SUM(d) / COUNT(*)",
            ),
            *(
                "SUM(CAST(i AS BIGINT))",
                "SUM(NULLIF(n, 2))",
                "AVG(CAST(n AS DECIMAL(5, 2)))",
                "COUNT(NULLIF(n, 2))",
                "MIN(s || c)",
                "SUM(1)",
                "MAX(1.5)",
            ),
            *(
                "ARRAY_AGG(s) FILTER (WHERE b)",
                "ARRAY_AGG(s RESPECT NULLS)",
                "ARRAY_AGG(s IGNORE NULLS)",
                "ARRAY_AGG(DISTINCT s IGNORE NULLS)",
            ),
            *(
                "FIRST_VALUE(s IGNORE NULLS)",
                "LAST_VALUE(s) FILTER (WHERE b)",
                "SINGLE_VALUE(n)",
                "APPROX_COUNT_DISTINCT(n)",
                "EVERY(b)",
                "BIT_AND(i)",
            ),
            *(f"APPROX_COUNT_DISTINCT({each})" for each in ("i", "s", "d", "p", "dt", "ts", "b")),
            *_JSON,
            *_PERCENTILES,
        ]
    )
)
_WINDOW = "OVER (PARTITION BY k ORDER BY n, id)"
OVER_CALLS = [
    *(f"{name}() {_WINDOW}" for name in ("ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST")),
    *(f"{name}() OVER (PARTITION BY k ORDER BY n)" for name in ("RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST")),
    *(f"{name}() OVER (ORDER BY d)" for name in ("RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST")),
    *(f"NTILE({n}) {_WINDOW}" for n in (1, 2, 3, 10)),
    *(
        f"{name}({each}) {_WINDOW}"
        for name in ("LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE", "SUM", "AVG", "MIN", "MAX", "COUNT")
        for each in ("i", "d", "p", "s")
    ),
    *(
        f"{name}({arguments}) {_WINDOW}"
        for name in ("LAG", "LEAD")
        for arguments in ("i, 2", "i, 0", "i, 1, -1", "s, 2, 'none'", "p, 1, 0.5", "dt, 1")
    ),
    *(
        f"{name}(n) OVER (PARTITION BY k ORDER BY n, id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"
        for name in ("SUM", "COUNT", "AVG", "FIRST_VALUE", "MAX")
    ),
    *(
        f"{name}(n) OVER (PARTITION BY k ORDER BY n RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)"
        for name in ("SUM", "COUNT", "AVG", "FIRST_VALUE", "MAX")
    ),
    *(
        f"{name}(n) OVER (PARTITION BY k ORDER BY n, id ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING)"
        for name in ("SUM", "COUNT", "LAST_VALUE")
    ),
    *(f"{name}(n) OVER (PARTITION BY k)" for name in ("SUM", "COUNT", "STDDEV_POP", "MAX", "VAR_SAMP")),
    *(f"STDDEV_POP({each}) {_WINDOW}" for each in ("n", "d", "p")),
]
_LAST = ", ".join(f"LAST_VALUE({each.name}) AS {each.name}" for each in GROUPS.columns if each.name != "id")
QUERIES = {
    "batch": "SELECT k, ? FROM t GROUP BY k",
    "stream": "SELECT k, ? FROM t GROUP BY k",
    "none": "SELECT 'none', ? FROM t WHERE k = 'none'",
    "updates": f"SELECT k, ? FROM (SELECT id, {_LAST} FROM t GROUP BY id) GROUP BY k",
    "over": "SELECT CAST(id AS STRING) || k || CAST(n AS STRING), ? FROM t",
}
STREAMING = ("stream", "updates")
