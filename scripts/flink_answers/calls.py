"""The calls whose answers are recorded, by the table they read: operators, mathematics, conditionals and casts."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from tables import VALUES

NUMERIC = ("ti", "si", "i", "bi", "f", "d", "p5", "p10", "p20", "p38", "q38")
ONE_ARGUMENT = (
    *("-", "+", "ABS", "SIGN", "CEIL", "CEILING", "FLOOR", "ROUND", "TRUNCATE", "SQRT", "EXP", "LN", "LOG", "LOG2"),
    *("LOG10", "SIN", "COS", "TAN", "COT", "ASIN", "ACOS", "ATAN", "SINH", "COSH", "TANH", "DEGREES", "RADIANS"),
    *("BIN", "HEX", "IS_DECIMAL", "IS_DIGIT", "IS_ALPHA"),
)
TARGETS = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(5, 3)", "DECIMAL(10, 0)"),
    *("DECIMAL(38, 10)", "DECIMAL(10, 2)", "CHAR(3)", "CHAR(12)", "VARCHAR(4)", "STRING", "BINARY(2)", "BINARY(8)"),
    *(
        "VARBINARY(3)",
        "BYTES",
        "DATE",
        "TIME",
        "TIME(3)",
        "TIMESTAMP(0)",
        "TIMESTAMP(3)",
        "TIMESTAMP",
        "TIMESTAMP_LTZ(0)",
    ),
    *("TIMESTAMP_LTZ(3)", "TIMESTAMP_LTZ"),
)
RARE_TARGETS = (
    *("INTERVAL YEAR", "INTERVAL MONTH", "INTERVAL DAY", "INTERVAL SECOND(3)", "ARRAY<STRING>", "ARRAY<BIGINT>"),
    *(
        "MAP<STRING, STRING>",
        "MAP<STRING, BIGINT>",
        "ROW<x BIGINT, y STRING>",
        "ROW<x STRING, y STRING>",
        "MULTISET<STRING>",
    ),
    *("ROW<x ROW<a BIGINT, b INT>, y ARRAY<STRING>>", "ROW<x INT>"),
)


def numbers() -> list[str]:
    """Return calls over numbers of all types."""
    calls = [f"{one} {sign} {two}" for one, two in product(NUMERIC, NUMERIC) for sign in "+-*"]
    calls += [f"{one} {sign} NULLIF({two}, 0)" for one, two in product(NUMERIC, NUMERIC) for sign in "/%"]
    calls += [f"{one} {sign} {two}" for one in ("i", "d", "p10") for two in ("i", "d", "p10") for sign in "/%"]
    calls += [f"MOD({one}, 7)" for one in NUMERIC]
    calls += [f"{name}({each})" for name in ONE_ARGUMENT for each in NUMERIC]
    calls += [
        f"{name}({each}, {digits})"
        for name in ("ROUND", "TRUNCATE")
        for each in NUMERIC
        for digits in (0, 1, 4, -1, -3)
    ]
    calls += [f"{name}({each}, n)" for name in ("ROUND", "TRUNCATE") for each in NUMERIC]
    calls += [
        f"{name}({one}, {two})" for name in ("POWER", "ATAN2", "LOG") for one in NUMERIC for two in ("n", "d", "p5")
    ]
    calls += [f"CAST({one} AS {target})" for one in NUMERIC for target in TARGETS[:11]]
    calls += [f"{one} {sign} {two}" for one, two in product(NUMERIC, NUMERIC) for sign in ("=", "<")]
    calls += [
        f"{one} {sign} {literal}"
        for one in NUMERIC
        for literal in ("1", "1.5", "1.5E0")
        for sign in ("+", "*", "/", ">=")
    ]
    calls += [f"{literal} {sign} {one}" for one in NUMERIC for literal in ("1", "1.5", "1.5E0") for sign in ("-", "*")]
    calls += [f"CASE WHEN b THEN {one} ELSE {two} END" for one, two in product(NUMERIC, NUMERIC)]
    calls += [f"{name}({one}, {two})" for name in ("GREATEST", "NULLIF") for one, two in product(NUMERIC, NUMERIC)]
    calls += [f"{one} IN (1, 42, 9.99, 127)" for one in NUMERIC] + [
        f"{one} NOT IN (1.5E0, 42, NULL)" for one in NUMERIC
    ]
    calls += [
        f"{one} BETWEEN {two} AND {three}" for one in NUMERIC for two, three in (("0", "50"), ("i", "d"), ("p5", "p10"))
    ]
    calls += [f"{one} {word} SYMMETRIC 50 AND -1.5" for one in NUMERIC for word in ("BETWEEN", "NOT BETWEEN")]
    return calls


def texts() -> list[str]:
    """Return casts of strings."""
    calls = [f"TRY_CAST(s AS {target})" for target in TARGETS + RARE_TARGETS]
    calls += [
        f"CAST(s AS {target})"
        for target in TARGETS
        if "CHAR" in target or "BINARY" in target or target in ("STRING", "BYTES")
    ]
    calls += [f"{name}(s)" for name in ("IS_ALPHA", "IS_DECIMAL", "IS_DIGIT", "HEX", "UNHEX")]
    calls += [
        "CAST(v AS CHAR(5))",
        "CAST(v AS VARCHAR(5))",
        "TRY_CAST(v AS INT)",
        "TRY_CAST(v AS TIMESTAMP(3))",
        "s = v",
    ]
    calls += [f"TRY_CAST(v AS {target})" for target in ("DECIMAL(20, 5)", "DATE", "TIME", "BOOLEAN", "FLOAT")]
    calls += [f"s {sign} '1'" for sign in ("=", "<>", "<", ">=", "IS DISTINCT FROM")]
    calls += [
        "s IN ('1', 'abc', '')",
        "s NOT IN ('1', NULL)",
        "s BETWEEN '1' AND '2'",
        "COALESCE(v, 'none')",
        "GREATEST(s, '2')",
    ]
    calls += [
        "s LIKE '1%'",
        "s LIKE '%-__-%'",
        "s LIKE '1\\_%' ESCAPE '\\'",
        "s NOT LIKE '%:%'",
        "s SIMILAR TO '[0-9]+'",
    ]
    calls += [
        "s SIMILAR TO '(t|T)(rue|RUE)?'",
        "s NOT SIMILAR TO '%[a-z]%'",
        "s LIKE v",
        "s SIMILAR TO '1!_%' ESCAPE '!'",
    ]
    calls += [
        "NULLIF(s, '1')",
        "IFNULL(v, 'none')",
        "CASE s WHEN '1' THEN 'one' WHEN 'abc' THEN v ELSE s END",
        "LEAST(v, 'm')",
    ]
    return calls


def values() -> list[str]:
    """Return casts, comparisons and conditionals over all pairs of types."""
    names = [each.name for each in VALUES.columns]
    calls = [
        f"{'TRY_CAST' if name in ('c', 'v', 's') else 'CAST'}({name} AS {target})"
        for name in names
        for target in TARGETS
    ]
    calls += [f"TRY_CAST({name} AS {target})" for name in names for target in RARE_TARGETS]
    for one, two in product(PAIRED, PAIRED):
        calls += [
            f"{one} = {two}",
            f"{one} < {two}",
            f"CASE WHEN b THEN {one} ELSE {two} END",
            f"COALESCE({one}, {two})",
        ]
        calls += [f"GREATEST({one}, {two})", f"{one} + {two}", f"{one} - {two}"]
        if one <= two:
            calls += [
                f"{one} IS NOT DISTINCT FROM {two}",
                f"IF(b, {one}, {two})",
                f"NULLIF({one}, {two})",
                f"{one} IN ({two}, {one})",
            ]
            calls += [
                f"LEAST({two}, {one})",
                f"IFNULL({one}, {two})",
                f"{one} * {two}",
                f"{one} / {two}",
                f"{one} BETWEEN {two} AND {one}",
            ]
    for name in names:
        calls += [
            f"{name} IS NULL",
            f"{name} IS NOT NULL",
            f"TYPEOF({name})",
            f"-{name}",
            f"NOT {name}",
            f"{name} IS TRUE",
        ]
        calls += [
            f"{name} = {name}",
            f"{name} <> {name}",
            f"{name} >= {name}",
            f"ARRAY[{name}, {name}]",
            f"ROW({name}, 1)",
        ]
        calls += [f"{name} = {literal}" for literal in LITERALS] + [f"ABS({name})", f"MAP['k', {name}]", f"{name}"]
        calls += [f"CAST({name} AS STRING) || '|'", f"CAST(ARRAY[{name}] AS STRING)", f"CAST(ROW({name}) AS STRING)"]
        calls += [
            f"CAST(MAP['k', {name}] AS STRING)",
            f"CAST(ARRAY[{name}] AS ARRAY<STRING>)",
            f"CAST(ROW({name}) AS ROW<x STRING>)",
        ]
    boolean = ("b", "i = 42", "NOT b", "TRUE", "FALSE", "CAST(NULL AS BOOLEAN)")
    calls += [f"{one} {word} {two}" for one, two in product(boolean, boolean) for word in ("AND", "OR")]
    words = ("TRUE", "NOT TRUE", "FALSE", "NOT FALSE", "UNKNOWN", "NOT UNKNOWN", "NULL", "NOT NULL")
    calls += [f"({one}) IS {word}" for one in ("b", "i = 42", "b AND i = 42", "b OR NULL = i") for word in words]
    calls += ODD
    return calls


PAIRED = tuple("b ti i bi f d p c s vb dt t3 ts3 lz3 ym ds ai r".split())
LITERALS = (
    *(
        "1",
        "1.0",
        "1E0",
        "'1'",
        "'ab'",
        "TRUE",
        "DATE '2021-09-24'",
        "TIME '12:34:56'",
        "TIMESTAMP '2021-09-24 12:34:56'",
    ),
    *("'2021-09-24'", "'12:34:56'", "'2021-09-24 12:34:56'", "INTERVAL '14' MONTH", "INTERVAL '1' DAY", "x'6162'"),
    *("ARRAY[1, 7]", "ROW(1, 'x')", "CAST(NULL AS INT)", "MAP['a', 7, 'other', NULL]"),
)
ODD = (Path(__file__).parent / "odd_calls.txt").read_text().splitlines()
CALLS = {"numbers": numbers(), "texts": texts(), "values": values(), "zoned": []}
_ZONED = ("s", "dt", "t0", "t3", "ts0", "ts3", "ts6", "lz0", "lz3", "lz6")
CALLS["zoned"] = [
    f"TRY_CAST({name} AS {target})"
    for name in _ZONED
    for target in TARGETS
    if "TIME" in target or target in ("STRING", "DATE")
]
CALLS["zoned"] += [f"{one} = {two}" for one, two in product(_ZONED, _ZONED) if "lz" in one + two]
CALLS["zoned"] += [
    "lz3 + ym",
    "lz3 - ds",
    "TIMESTAMPADD(MONTH, 1, lz3)",
    "(lz3 - ts3) SECOND",
    "CAST(ARRAY[lz3] AS STRING)",
    "CAST(ROW(lz6) AS STRING)",
]
for _name, _calls in CALLS.items():
    CALLS[_name] = list(dict.fromkeys(_calls))
