"""What is done for a whole batch gives what record by record gives, errors and the place of the record included."""

from __future__ import annotations

import json
from operator import length_hint

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headrace.operators.batch_forms import batch_form

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
BLANKS = st.text(" \t\r\n", max_size=2)
TEXTS = st.builds(lambda a, value, b: f"{a}{json.dumps(value)}{b}", BLANKS, JSON, BLANKS)
BROKEN = st.text('{}[]",:0123.-+eE\\untrflsaN \ufeff', max_size=12)


def outcome(parse, text):
    try:
        value = parse(text)
    except Exception as error:
        return type(error), str(error)
    return repr(value)


@given(st.one_of(TEXTS, BROKEN, TEXTS.map(str.encode), st.integers(), st.none()))
@example("\ufeff{}")
@example("1 2")
@example("NaN")
@example("-")
@example('{"a": 1, "a": 2}')
@example('"\ud800"')
def test_json_loads(text):
    assert outcome(lambda t: batch_form(json.loads)([t])[0], text) == outcome(json.loads, text)


def test_the_iterator_tells_which_record_was_bad():
    records = iter(['{"a": 1}', "[2]", "{oops", "4"])
    with pytest.raises(json.JSONDecodeError, match="property name"):
        batch_form(json.loads)(records)
    assert length_hint(records) == 1


def test_a_replaced_json_loads_is_the_users_function(monkeypatch):
    monkeypatch.setattr(json, "loads", lambda text: "mine")
    assert batch_form(json.loads)(["1"]) == ["mine"]
