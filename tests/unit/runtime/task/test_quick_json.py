"""The decoder of slot processes gives what the standard library's gives, errors included."""

from __future__ import annotations

import json

from hypothesis import example, given
from hypothesis import strategies as st

from headrace.runtime.task.quick_json import QuickDecoder, use_quick_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
BLANKS = st.text(" \t\r\n", max_size=2)
TEXTS = st.builds(lambda a, value, b: f"{a}{json.dumps(value)}{b}", BLANKS, JSON, BLANKS)
DIGITS = st.text("0123456789", max_size=40)
NUMBERS = st.builds(
    lambda sign, whole, part, power: f"{sign}{whole}.{part}e{power}",
    st.sampled_from(["", "-"]),
    DIGITS,
    DIGITS,
    st.integers(-330, 330),
)
WHOLE = st.builds("{}{}".format, st.sampled_from(["", "-"]), DIGITS)
BROKEN = st.text('{}[]",:0123.-+eE\\untrflsaN \ufeff', max_size=12)


def outcome(parse, text):
    try:
        value = parse(text)
    except Exception as error:
        return type(error), str(error)
    return repr(value)


@given(st.one_of(TEXTS, NUMBERS, WHOLE, BROKEN))
@example("")
@example("\ufeff{}")
@example("1 2")
@example("NaN")
@example("-")
@example("-0")
@example("18446744073709551616")
@example("9007199254740993.0")
@example("1e400")
@example('"a\tb"')
@example('"\\ud800"')
@example('{"a": 1}{')
@example('{"a": 1, "a": 2}')
@example('"\ud800"')
@example("[" * 20)
def test_same_values_and_errors(text):
    assert outcome(QuickDecoder().decode, text) == outcome(json.JSONDecoder().decode, text)


def test_it_becomes_the_default_and_options_work_as_before(monkeypatch):
    monkeypatch.setattr(json, "_default_decoder", json.JSONDecoder())
    use_quick_json()
    assert isinstance(json._default_decoder, QuickDecoder)
    assert json.loads('{"a": 1.5}') == json.loads(b' {"a": 1.5} ') == {"a": 1.5}
    assert json.loads('{"a": 1.5}', parse_float=str) == {"a": "1.5"}


def test_a_decoder_of_somebody_else_stays(monkeypatch):
    class Other(json.JSONDecoder):
        pass

    other = Other()
    monkeypatch.setattr(json, "_default_decoder", other)
    use_quick_json()
    assert json._default_decoder is other
