"""What the parser takes and refuses: the verdicts were recorded from the parser of Flink 2.3 (one statement a line)."""

from pathlib import Path

import pytest

from headrace.table.sql import SqlParseError, parse_statements

DATA = Path(__file__).parents[3] / "data" / "sql"


def statements(name: str) -> list[str]:
    lines = (DATA / name).read_text(encoding="utf-8").split("\n")
    return [line.replace("\\n", "\n") for line in lines if line]


@pytest.mark.parametrize("text", statements("accepted.sql"))
def test_what_flink_takes(text: str) -> None:
    assert parse_statements(text)


@pytest.mark.parametrize("text", statements("refused.sql"))
def test_what_flink_refuses(text: str) -> None:
    with pytest.raises(SqlParseError):
        parse_statements(text)
