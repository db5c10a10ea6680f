"""What a statement that cannot be parsed says."""

import pickle

import pytest

from headrace.table.sql import SqlParseError, parse_statements


def error_of(text: str) -> SqlParseError:
    with pytest.raises(SqlParseError) as raised:
        parse_statements(text)
    return raised.value


def test_the_place_is_shown() -> None:
    error = error_of("SELECT a,\n  FROM t")
    assert (error.line, error.column) == (2, 3)
    assert "  FROM t\n    ^" in str(error)


def test_what_was_expected() -> None:
    assert "JOIN" in error_of("SELECT * FROM a LEFT OUTER b").alternatives
    assert "an identifier" in error_of("CREATE TABLE 1").alternatives
    assert {"TABLE", "VIEW"} <= set(error_of("DROP TABEL t").alternatives)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("SELECT a != b", "write '<>'"),
        ("SELECT 1 MINUS SELECT 2", "write EXCEPT"),
        ("SELECT 'a", "Unterminated string"),
        ("SELECT 1 /* a", "Unterminated comment"),
        ('SELECT "a"', "backticks"),
        ("SELECT a AS 'b'", "backticks"),
        ("SELECT 1 LIMIT 1, 2", "OFFSET"),
        ("SELECT * FROM a CROSS APPLY b", "LATERAL"),
        ("SELECT value FROM t", "write `value`"),
        ("CREATE TABLE t (method STRING)", "write `method`"),
        ("SELECT 1 AS timestamp", "write `timestamp`"),
        ("", "end of the statement"),
    ],
)
def test_common_mistakes_get_an_answer(text: str, part: str) -> None:
    assert part in str(error_of(text))


def test_a_clause_is_not_taken_for_a_name() -> None:
    assert "`" not in str(error_of("SELECT a, FROM t"))


def test_an_error_can_be_pickled() -> None:
    error = pickle.loads(pickle.dumps(error_of("SELECT FROM")))
    assert (error.line, error.column, error.code) == (1, 8, "SQL_PARSE")
