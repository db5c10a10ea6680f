"""JSON functions by hand: clauses, paths, and what is nested as it is."""

from __future__ import annotations

import pytest
from tests.unit.table.functions.calling import Keyword, call, result_type

from headrace.table.errors import SqlRuntimeError
from headrace.table.functions.definition import Argument
from headrace.types.logical_types import VarCharType

STRING = Argument(VarCharType(), None)
BOOKS = '{"book":[{"t":"a","p":8.95},{"t":"b","p":12},{"t":"c"}],"n":null,"s":"x"}'


def value(text: str, path: str, empty: str = "NULL", error: str = "NULL") -> object:
    return call("JSON_VALUE", text, path, STRING, Keyword(empty), "E", Keyword(error), "F")


def query(text: str, path: str, wrapper: str = "WITHOUT", empty: str = "NULL", error: str = "NULL") -> object:
    return call("JSON_QUERY", text, path, STRING, Keyword(wrapper), Keyword(empty), Keyword(error))


def test_value_and_its_behaviours() -> None:
    assert value(BOOKS, "$.book[0].p") == "8.95"
    assert value(BOOKS, "lax $.book") is None
    assert value(BOOKS, "lax $.missing", empty="DEFAULT") == "E"
    assert value(BOOKS, "strict $.missing", error="DEFAULT") == "F"
    with pytest.raises(SqlRuntimeError, match="Strict mode"):
        value(BOOKS, "strict $.book", error="ERROR")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$.book[*].t", '["a","b","c"]'),
        ("$..p", "[8.95,12]"),
        ("$.book[?(@.p > 9)].t", '["b"]'),
        ("$.book[?(@.p)].t", '["a","b"]'),
        ("$.book[?(@.t =~ /A/i || @.t == 'c')].t", '["a","c"]'),
        ("$.book[-1]", '{"t":"c"}'),
        ("$.book[0,1].t", '["a","b"]'),
        ("$.book[1:].t", '["b","c"]'),
        ("$['s','n']", '{"n":null,"s":"x"}'),
    ],
)
def test_paths(path: str, expected: str) -> None:
    assert query(BOOKS, f"lax {path}") in (expected, f"[{expected}]")


def test_wrappers() -> None:
    assert query(BOOKS, "$.s", "UNCONDITIONAL") == '["x"]'
    assert query(BOOKS, "$.book[0].t", "CONDITIONAL") == '["a"]'
    assert query("[1]", "$", "CONDITIONAL") == "[1]"
    assert query(BOOKS, "$.s", empty="EMPTY ARRAY", error="EMPTY OBJECT") == "{}"


def test_results_of_json_functions_are_nested_as_they_are() -> None:
    inner = call("JSON_OBJECT", Keyword("NULL"), "k", 1)
    nested = Argument(result_type("JSON_OBJECT", Keyword("NULL"), "k", 1), inner)
    assert call("JSON_ARRAY", Keyword("NULL"), nested, inner, None) == '[{"k":1},"{\\"k\\":1}",null]'
    assert call("JSON_OBJECT", Keyword("ABSENT"), "b", 1.5, "a", None) == '{"b":1.5}'


def test_is_json() -> None:
    assert call("IS JSON VALUE", "1") and not call("IS JSON OBJECT", "[]") and call("IS JSON ARRAY", "[]")
    assert not call("IS JSON VALUE", "NaN") and not call("IS JSON VALUE", "")
    assert call("IS JSON SCALAR", '"a"') and not call("IS JSON SCALAR", "{}")


def test_quoting() -> None:
    assert call("JSON_QUOTE", 'a"/\n\u00e9') == '"a\\"\\/\\n\\u00e9"'
    assert call("JSON_UNQUOTE", '"a\\u0041"') == "aA"
    assert call("JSON_UNQUOTE", "plain") == "plain"
