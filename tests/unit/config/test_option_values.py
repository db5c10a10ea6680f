import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.common.errors import ConfigurationError
from headrace.common.time import Duration
from headrace.config.option_values import (
    duration_text,
    parse_boolean,
    parse_duration,
    parse_list,
    parse_map,
    parse_memory,
    value_text,
)


@pytest.mark.parametrize(
    ("text", "iso"),
    [  # as Flink's TimeUtils reads them
        ("10", "PT0.01S"),
        ("10 ms", "PT0.01S"),
        ("5s", "PT5S"),
        ("1min", "PT1M"),
        ("3 m", "PT3M"),
        ("2 h", "PT2H"),
        ("3d", "PT72H"),
        ("1 day", "PT24H"),
        ("7 micros", "PT0.000007S"),
        ("5 µs", "PT0.000005S"),
        ("9ns", "PT0.000000009S"),
        ("10 MS", "PT0.01S"),
        (" 5 s ", "PT5S"),
        ("8 seconds", "PT8S"),
        ("PT5S", "PT5S"),
        ("PT1H2M3.5S", "PT1H2M3.5S"),
        ("P1DT1S", "PT24H1S"),
    ],
)
def test_durations(text, iso):
    assert str(parse_duration(text)) == iso


@pytest.mark.parametrize("text", ["", "  ", "10 xx", "-5s", "1.5s", "100us", "s", "P", "PT"])
def test_texts_that_are_no_duration(text):
    with pytest.raises(ConfigurationError, match="Expected a duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("millis", "text"),
    [
        (0, "0 ms"),
        (1, "1 ms"),
        (1000, "1 s"),
        (1500, "1500 ms"),
        (60_000, "1 min"),
        (86_400_000, "1 d"),
        (90_000_000, "25 h"),
    ],
)
def test_duration_texts(millis, text):
    assert duration_text(Duration.of_millis(millis)) == text


@given(st.integers(0, 2**62))
def test_duration_texts_read_back(nanos):
    assert parse_duration(duration_text(Duration.of_nanos(nanos))) == Duration.of_nanos(nanos)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("10", 10),
        ("10 b", 10),
        ("5kb", 5120),
        ("1m", 1 << 20),
        ("2 gb", 2 << 30),
        ("3t", 3 << 40),
        ("7 kibibytes", 7168),
    ],
)
def test_memory(text, size):
    assert parse_memory(text) == size


@pytest.mark.parametrize("text", ["", "10 xx", "-1", "1.5g"])
def test_texts_that_are_no_memory(text):
    with pytest.raises(ConfigurationError, match="Expected a memory size"):
        parse_memory(text)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("a;b", ["a", "b"]),
        ("abc", ["abc"]),
        ("[a, b]", ["a", "b"]),
        ('[1, "b c"]', [1, "b c"]),
        ("['it''s', 'a,b']", ["it's", "a,b"]),
        ("[]", []),
        ("- a\n- b", ["a", "b"]),
        ("", []),
    ],
)
def test_lists(text, items):
    assert parse_list(text) == items


def test_maps():
    assert parse_map("{a: 1, 'b': 'x:y'}") == {"a": "1", "b": "x:y"}
    assert parse_map("") == {}
    with pytest.raises(ConfigurationError):
        parse_map("a")


@pytest.mark.parametrize("value", [["a", "b"], ["a;b", "c"], [], ["x"]])
def test_texts_of_lists_read_back(value):
    assert parse_list(value_text(value)) == value


def test_booleans():
    assert parse_boolean(" False ") is False
    with pytest.raises(ConfigurationError):
        parse_boolean("1")
