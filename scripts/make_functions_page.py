"""Write docs/table/functions.md: all built-in functions with their forms, and examples with results recorded from Flink."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from headrace.table.functions.registry import aggregate_functions, scalar_functions

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/table/functions.md"
RECORDED = ROOT / "tests/data/table/functions_b.json"
HEAD = """# Built-in functions

All functions behave as in Flink 2.3: arguments, result types, NULLs, time zones and errors are compared with recorded
results of Flink. Unless stated otherwise, the result is NULL if an argument is NULL. Names are not case-sensitive.

`python scripts/make_functions_page.py` writes this page.
"""
INTERNAL = re.compile(
    r"\$|.*_ON_NULL$|BITMAP_|OBJECT_|(TRY_)?PARSE_JSON|SINGLE_VALUE|SAFE_CAST|RLIKE|!=|IS JSON$|IS NOT|NOT "
)
FORMS: dict[str, dict[str, str]] = {
    "Comparison and logic": {
        **{name: f"`a {name} b`" for name in ("=", "<>", "<", "<=", ">", ">=", "AND", "OR")},
        "NOT": "`NOT a`",
        "BETWEEN": "`a [NOT] BETWEEN [SYMMETRIC] low AND high`",
        "BETWEEN SYMMETRIC": "`a [NOT] BETWEEN SYMMETRIC b AND c`: in any order",
        "IN": "`a [NOT] IN (b, c, ...)`",
        "LIKE": "`a [NOT] LIKE pattern [ESCAPE character]`",
        "SIMILAR TO": "`a [NOT] SIMILAR TO pattern [ESCAPE character]`",
        "IS NULL": "`a IS [NOT] NULL`",
        "IS TRUE": "`a IS [NOT] TRUE`",
        "IS FALSE": "`a IS [NOT] FALSE`",
        "IS UNKNOWN": "`a IS [NOT] UNKNOWN`",
        "IS DISTINCT FROM": "`a IS [NOT] DISTINCT FROM b`",
    },
    "Arithmetic": {
        **{name: f"`a {name} b`" for name in ("+", "-", "*", "/", "%")},
        **{
            name: f"`{name}(number)`"
            for name in (
                "ABS ACOS ASIN ATAN BIN CEIL CEILING COS COSH COT DEGREES EXP FLOOR HEX LN LOG10 LOG2 RADIANS SIGN SIN "
                "SINH SQRT TAN TANH"
            ).split()
        },
        "ATAN2": "`ATAN2(y, x)`",
        "LOG": "`LOG([base,] number)`",
        "MOD": "`MOD(a, b)`",
        "POWER": "`POWER(base, exponent)`",
        "ROUND": "`ROUND(number [, digits])`",
        "TRUNCATE": "`TRUNCATE(number [, digits])`",
        "PI": "`PI()`",
        "E": "`E()`",
        "RAND": "`RAND([seed])`",
        "RAND_INTEGER": "`RAND_INTEGER([seed,] bound)`",
        "UNHEX": "`UNHEX(string)`",
    },
    "Strings": {
        "||": "`a || b`",
        "CONCAT": "`CONCAT(string, ...)`",
        "CONCAT_WS": "`CONCAT_WS(separator, string, ...)`: skips NULLs",
        "CHAR_LENGTH": "`CHAR_LENGTH(string)`: the number of characters",
        "CHARACTER_LENGTH": "`CHARACTER_LENGTH(string)`",
        "UPPER": "`UPPER(string)`",
        "LOWER": "`LOWER(string)`",
        "INITCAP": "`INITCAP(string)`",
        "TRIM": "`TRIM([BOTH, LEADING, TRAILING] [characters] FROM string)`",
        "LTRIM": "`LTRIM(string [, characters])`",
        "RTRIM": "`RTRIM(string [, characters])`",
        "BTRIM": "`BTRIM(string [, characters])`",
        "LPAD": "`LPAD(string, length, pad)`",
        "RPAD": "`RPAD(string, length, pad)`",
        "REPEAT": "`REPEAT(string, count)`",
        "REVERSE": "`REVERSE(string)`",
        "SUBSTRING": "`SUBSTRING(string FROM start [FOR length])`",
        "SUBSTR": "`SUBSTR(string, start [, length])`",
        "LEFT": "`LEFT(string, length)`",
        "RIGHT": "`RIGHT(string, length)`",
        "POSITION": "`POSITION(needle IN string)`",
        "LOCATE": "`LOCATE(needle, string [, start])`",
        "INSTR": "`INSTR(string, needle [, start [, occurrence]])`",
        "OVERLAY": "`OVERLAY(string PLACING other FROM start [FOR length])`",
        "REPLACE": "`REPLACE(string, old, new)`",
        "TRANSLATE": "`TRANSLATE(string, from, to)`: replaces characters",
        "SPLIT": "`SPLIT(string, delimiter)`",
        "SPLIT_INDEX": "`SPLIT_INDEX(string, delimiter, index)`: the index starts at 0",
        "STR_TO_MAP": "`STR_TO_MAP(string [, entry_delimiter, value_delimiter])`",
        "STARTSWITH": "`STARTSWITH(string, prefix)`",
        "ENDSWITH": "`ENDSWITH(string, suffix)`",
        "ELT": "`ELT(index, string, ...)`",
        "PRINTF": "`PRINTF(format, value, ...)`: Java's formats",
        "REGEXP": "`REGEXP(string, pattern)`: Java's regular expressions",
        "REGEXP_REPLACE": "`REGEXP_REPLACE(string, pattern, replacement)`",
        "REGEXP_EXTRACT": "`REGEXP_EXTRACT(string, pattern [, group])`",
        "REGEXP_EXTRACT_ALL": "`REGEXP_EXTRACT_ALL(string, pattern [, group])`",
        "REGEXP_COUNT": "`REGEXP_COUNT(string, pattern)`",
        "REGEXP_INSTR": "`REGEXP_INSTR(string, pattern)`",
        "REGEXP_SUBSTR": "`REGEXP_SUBSTR(string, pattern)`",
        "ASCII": "`ASCII(string)`",
        "CHR": "`CHR(integer)`",
        "ENCODE": "`ENCODE(string, charset)`",
        "DECODE": "`DECODE(binary, charset)`",
        "TO_BASE64": "`TO_BASE64(string)`",
        "FROM_BASE64": "`FROM_BASE64(string)`",
        "PARSE_URL": "`PARSE_URL(url, part [, key])`",
        "URL_ENCODE": "`URL_ENCODE(string)`",
        "URL_DECODE": "`URL_DECODE(string)`",
        "INET_ATON": "`INET_ATON(address)`",
        "INET_NTOA": "`INET_NTOA(number)`",
        "UUID": "`UUID()`",
        **{name: f"`{name}(value)`" for name in ("IS_ALPHA", "IS_DECIMAL", "IS_DIGIT")},
    },
    "Hashes": {
        **{name: f"`{name}(string)`" for name in ("MD5", "SHA1", "SHA224", "SHA256", "SHA384", "SHA512")},
        "SHA2": "`SHA2(string, bits)`",
        "HASH_CODE": "`HASH_CODE(value)`: Java's hash code",
    },
    "Dates and times": {
        "EXTRACT": "`EXTRACT(unit FROM value)`",
        **{
            name: f"`{name}(value)`"
            for name in "YEAR QUARTER MONTH WEEK DAYOFYEAR DAYOFMONTH DAYOFWEEK HOUR MINUTE SECOND".split()
        },
        "FLOOR TO": "`FLOOR(value TO unit)`",
        "CEIL TO": "`CEIL(value TO unit)`",
        "TIMESTAMPADD": "`TIMESTAMPADD(unit, number, value)`",
        "TIMESTAMPDIFF": "`TIMESTAMPDIFF(unit, start, end)`",
        "OVERLAPS": "`(start, end) OVERLAPS (start, end)`",
        "DATE_FORMAT": "`DATE_FORMAT(timestamp, pattern)`: Java's patterns",
        "TO_DATE": "`TO_DATE(string [, pattern])`",
        "TO_TIMESTAMP": "`TO_TIMESTAMP(string [, pattern])`",
        "TO_TIMESTAMP_LTZ": "`TO_TIMESTAMP_LTZ(number [, precision])`, `TO_TIMESTAMP_LTZ(string [, pattern [, zone]])`",
        "FROM_UNIXTIME": "`FROM_UNIXTIME(seconds [, pattern])`",
        "UNIX_TIMESTAMP": "`UNIX_TIMESTAMP([string [, pattern]])`",
        "CONVERT_TZ": "`CONVERT_TZ(string, from_zone, to_zone)`",
        **{
            name: f"`{name}`"
            for name in ("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP")
        },
        "NOW": "`NOW()`",
        "CURRENT_ROW_TIMESTAMP": "`CURRENT_ROW_TIMESTAMP()`",
        "PROCTIME": "`PROCTIME()`",
        "CURRENT_WATERMARK": "`CURRENT_WATERMARK(rowtime)`",
        "SOURCE_WATERMARK": "`SOURCE_WATERMARK()`: in WATERMARK FOR only",
    },
    "Conditions and conversion": {
        "CASE": "`CASE WHEN condition THEN value ... [ELSE value] END`",
        "IF": "`IF(condition, a, b)`",
        "COALESCE": "`COALESCE(a, b, ...)`",
        "IFNULL": "`IFNULL(a, b)`",
        "NULLIF": "`NULLIF(a, b)`",
        "GREATEST": "`GREATEST(a, b, ...)`",
        "LEAST": "`LEAST(a, b, ...)`",
        "CAST": "`CAST(value AS type)`",
        "TRY_CAST": "`TRY_CAST(value AS type)`: NULL if the value cannot be cast",
        "TYPEOF": "`TYPEOF(value)`",
        "CURRENT_DATABASE": "`CURRENT_DATABASE()`",
    },
    "JSON": {
        **{f"IS JSON {kind}": f"`string IS [NOT] JSON {kind}`" for kind in ("VALUE", "OBJECT", "ARRAY", "SCALAR")},
        "JSON_EXISTS": "`JSON_EXISTS(json, path [{TRUE, FALSE, UNKNOWN, ERROR} ON ERROR])`",
        "JSON_VALUE": "`JSON_VALUE(json, path [RETURNING type] [{NULL, ERROR, DEFAULT x} ON {EMPTY, ERROR}])`",
        "JSON_QUERY": "`JSON_QUERY(json, path [RETURNING type] [wrapper] [{NULL, EMPTY ARRAY, EMPTY OBJECT, ERROR} ON ...])`",
        "JSON_STRING": "`JSON_STRING(value)`",
        "JSON_OBJECT": "`JSON_OBJECT(key VALUE value, ... [{NULL, ABSENT} ON NULL])`",
        "JSON_ARRAY": "`JSON_ARRAY(value, ... [{NULL, ABSENT} ON NULL])`",
        "JSON": "`JSON(string)`: nests a string in JSON_OBJECT as it is",
        "JSON_QUOTE": "`JSON_QUOTE(string)`",
        "JSON_UNQUOTE": "`JSON_UNQUOTE(string)`",
    },
    "Collections and rows": {
        "ARRAY": "`ARRAY[a, b, ...]`",
        "MAP": "`MAP[key, value, ...]`",
        "ROW": "`ROW(a, b, ...)`",
        "ITEM": "`array[index]`, `map[key]`",
        "CARDINALITY": "`CARDINALITY(collection)`",
        "ELEMENT": "`ELEMENT(array)`",
        **{name: f"`{name}(array)`" for name in "ARRAY_DISTINCT ARRAY_REVERSE ARRAY_MAX ARRAY_MIN".split()},
        **{
            name: f"`{name}(array, element)`"
            for name in "ARRAY_CONTAINS ARRAY_POSITION ARRAY_REMOVE ARRAY_APPEND ARRAY_PREPEND".split()
        },
        **{name: f"`{name}(array, array)`" for name in "ARRAY_UNION ARRAY_EXCEPT ARRAY_INTERSECT".split()},
        "ARRAY_CONCAT": "`ARRAY_CONCAT(array, ...)`",
        "ARRAY_SLICE": "`ARRAY_SLICE(array, start [, end])`",
        "ARRAY_SORT": "`ARRAY_SORT(array [, ascending [, nulls_first]])`",
        "ARRAY_JOIN": "`ARRAY_JOIN(array, delimiter [, for_null])`",
        **{name: f"`{name}(map)`" for name in ("MAP_KEYS", "MAP_VALUES", "MAP_ENTRIES")},
        "MAP_FROM_ARRAYS": "`MAP_FROM_ARRAYS(keys, values)`",
        "MAP_UNION": "`MAP_UNION(map, ...)`",
    },
}


def examples() -> dict[str, str]:
    """Return one recorded call per function, with its result."""
    found: dict[str, str] = {}
    for case in json.loads(RECORDED.read_text()):
        sql, value = case["sql"], case.get("values", [None])[0]
        if not value or len(sql) > 70 or len(value) > 50 or "|" in sql + value or not value.isprintable():
            continue
        name = re.match(r"[A-Z_0-9]+(?=\()", sql)
        if name is not None:
            key = f"{name[0]} TO" if name[0] in ("FLOOR", "CEIL") and " TO " in sql else name[0]
            found.setdefault(key, f"`{sql}` = `{value}`")
    return found


def page() -> str:
    """Return the text of the page."""
    shown = examples()
    lines = [HEAD]
    for title, forms in FORMS.items():
        lines += [f"## {title}", "", "| function | example |", "| --- | --- |"]
        for name, form in forms.items():
            lines.append(
                f"| {form} | {shown.get(name, '')} |".replace("||", "\\|\\|")
                if "||" in form
                else f"| {form} | {shown.get(name, '')} |"
            )
        lines.append("")
    aggregates = sorted(name for name in aggregate_functions() if not INTERNAL.match(name))
    lines += ["## Aggregate functions", "", ", ".join(f"`{name}`" for name in aggregates) + "."]
    return "\n".join(lines).rstrip() + "\n"


def missing() -> list[str]:
    """Return the functions that the page does not name."""
    listed = {name for forms in FORMS.values() for name in forms}
    return sorted(name for name in scalar_functions() if name not in listed and not INTERNAL.match(name))


if __name__ == "__main__":
    if unlisted := missing():
        sys.exit(f"Add these functions to FORMS: {', '.join(unlisted)}")
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page())
