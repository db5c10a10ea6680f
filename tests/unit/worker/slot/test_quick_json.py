"""The decoder and the encoder of slot processes give what the standard library's give, errors included."""

from __future__ import annotations

import json
from collections import OrderedDict
from enum import IntEnum

from hypothesis import example, given
from hypothesis import strategies as st

from headrace.worker.slot.quick_json import QuickDecoder, QuickEncoder, use_quick_json

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
    monkeypatch.setattr(json, "_default_encoder", json.JSONEncoder())
    use_quick_json()
    assert isinstance(json._default_decoder, QuickDecoder)
    assert json.loads('{"a": 1.5}') == json.loads(b' {"a": 1.5} ') == {"a": 1.5}
    assert json.loads('{"a": 1.5}', parse_float=str) == {"a": "1.5"}


def test_a_decoder_of_somebody_else_stays(monkeypatch):
    class Other(json.JSONDecoder):
        pass

    class OtherWay(json.JSONEncoder):
        pass

    other, other_way = Other(), OtherWay()
    monkeypatch.setattr(json, "_default_decoder", other)
    monkeypatch.setattr(json, "_default_encoder", other_way)
    use_quick_json()
    assert json._default_decoder is other
    assert json._default_encoder is other_way


class Level(IntEnum):
    LOW = 1


class Circle:
    """Makes values that contain themselves, and shows them short."""

    def __new__(cls, kind):
        value = kind()
        value.append(value) if kind is list else value.update(a=value)
        return value


LEAVES = JSON | st.floats() | st.binary(max_size=2) | st.sampled_from([Level.LOW, {1}, object, 10**30, True])
KEYS = st.text() | st.integers() | st.floats() | st.booleans() | st.none() | st.sampled_from([Level.LOW, (1,), b"k"])
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(KEYS, inner, max_size=3)
        | st.dictionaries(st.text(), inner, max_size=2).map(OrderedDict)
    ),
    max_leaves=8,
)


@given(VALUES)
@example({"a": "\ud800\u00e9\U0001f600\x7f"})
@example([float("nan"), float("-inf"), 1e16, 1e-7, -0.0])
@example({"deep": [[[[{"a": ({"b": None},)}]]]]})
@example([{}, [], (), {"": ""}])
@example(Circle(list))
@example({"in": [Circle(dict)]})
@example([{"a": {1, 2}}])
@example({(1, 2): 3})
def test_same_texts_and_errors(value):
    assert outcome(QuickEncoder().encode, value) == outcome(json.JSONEncoder().encode, value)


def test_a_failure_leaves_nothing_behind_in_the_encoder():
    encoder, value = QuickEncoder(), {"a": [1, {2}]}
    assert outcome(encoder.encode, value)[0] is TypeError
    value["a"][1] = 2
    assert encoder.encode(value) == '{"a": [1, 2]}'


def test_it_becomes_the_default_for_texts_without_options(monkeypatch):
    monkeypatch.setattr(json, "_default_encoder", json.JSONEncoder())
    monkeypatch.setattr(json, "_default_decoder", json.JSONDecoder())
    use_quick_json()
    assert isinstance(json._default_encoder, QuickEncoder)
    assert json.dumps({"a": 1.5, "b": "\u00e9"}) == '{"a": 1.5, "b": "\\u00e9"}'
    assert json.dumps({"b": {1}, "a": 0}, default=list, sort_keys=True) == '{"a": 0, "b": [1]}'
