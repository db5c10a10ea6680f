"""Functions on strings, by hand; the recorded suite compares many more calls with Flink."""

from __future__ import annotations

import pytest
from tests.unit.table.functions.calling import Keyword, both_forms, call, result_type

from headrace.table.functions.definition import ArgumentError
from headrace.types.logical_types import CharType, VarCharType

TEXTS = ["", "abc", " äöü ß ", None, "Hello World", "x\U0001f600y", "%_\\", "ABC", "  ", "aXbX"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("UPPER", ()),
        ("LOWER", ()),
        ("INITCAP", ()),
        ("CHAR_LENGTH", ()),
        ("SUBSTRING", (2,)),
        ("SUBSTRING", (0, 3)),
        ("SUBSTRING", (2, 0)),
        ("LIKE", ("a%",)),
        ("LIKE", ("%c",)),
        ("LIKE", ("%b%",)),
        ("LIKE", ("abc",)),
        ("LIKE", ("a_c",)),
        ("LIKE", ("%",)),
        ("LIKE", ("",)),
        ("LIKE", ("\\%\\_%", "\\")),
        ("MD5", ()),
        ("REGEXP", ("[a-c]+",)),
        ("SIMILAR TO", ("(a|A)%",)),
        ("CONCAT", ("-", "x")),
        ("||", ("!",)),
    ],
)
def test_the_column_form_equals_the_row_form(name: str, arguments: tuple[object, ...]) -> None:
    by_row, by_column = both_forms(name, (VarCharType(), TEXTS), *arguments)
    assert by_row == by_column


@pytest.mark.parametrize("side", ["BOTH", "LEADING", "TRAILING"])
def test_the_column_form_of_trim_equals_its_row_form(side: str) -> None:
    by_row, by_column = both_forms("TRIM", Keyword(side), " X", (VarCharType(), TEXTS))
    assert by_row == by_column


def test_lengths_are_code_points_but_padding_counts_utf_16_units() -> None:
    assert call("CHAR_LENGTH", "a\U0001f600") == 2
    assert call("LPAD", "\U0001f600", 3, "-") == "-\U0001f600"
    assert call("LPAD", "\U0001f600", 1, "-") == "?"
    assert call("OVERLAY", "\U0001f600bc", "x", 3, 1) == "\U0001f600xc"


def test_invalid_patterns_give_null() -> None:
    assert call("REGEXP_EXTRACT", "abc", "(") is None
    assert call("REGEXP", "abc", "(") is False
    assert call("REGEXP_COUNT", "abc", "[") is None


def test_types_of_results() -> None:
    assert result_type("UPPER", "abc") == CharType(3, is_nullable=False)
    assert result_type("||", "ab", "c") == CharType(3, is_nullable=False)
    assert result_type("SUBSTRING", "abc", 1) == VarCharType(3)


def test_arguments_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ArgumentError, match="argument 1"):
        result_type("BTRIM", 1)
    with pytest.raises(ArgumentError, match="expected 2 arguments, got 1"):
        result_type("REPEAT", "a")


def test_printf_formats_like_java() -> None:
    assert call("PRINTF", "%5d|%-5s|%05.1f|%x", 42, "ab", 3.14159, 255) == "   42|ab   |003.1|ff"
    assert call("PRINTF", "%d", "x") is None


def test_parts_of_a_url() -> None:
    url = "http://user:pw@example.com:8080/a/b.html?k1=v1&k2=v2#top"
    parts = ("HOST", "PATH", "QUERY", "REF", "PROTOCOL", "FILE", "AUTHORITY", "USERINFO")
    assert [call("PARSE_URL", url, part) for part in parts] == [
        "example.com",
        "/a/b.html",
        "k1=v1&k2=v2",
        "top",
        "http",
        "/a/b.html?k1=v1&k2=v2",
        "user:pw@example.com:8080",
        "user:pw",
    ]
    assert call("PARSE_URL", url, "QUERY", "k2") == "v2"
    assert call("PARSE_URL", "no url", "HOST") is None
