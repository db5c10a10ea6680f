"""How the entries of keyed state become rows and back, for all kinds of state."""

from __future__ import annotations

import pytest

from headrace.errors import TypeMismatchError
from headrace.state_processor.keyed_layout import KeyedLayout, layout_of


def test_entries_of_a_map_keep_their_times_of_last_use():
    layout = KeyedLayout("MapState with time to live")
    entries = [(("k", "a"), (1, 5)), (("k", "b"), (2, 9))]
    assert list(layout.rows(entries)) == [("k", {"a": 1, "b": 2})]
    changed = layout.changed(entries, lambda key, found: {"a": found["a"] + 1, "c": 3})
    assert dict(changed) == {("k", "a"): (2, 5), ("k", "c"): (3, 9)}


def test_elements_of_a_list_get_the_latest_time_of_last_use():
    layout = KeyedLayout("ListState with time to live")
    entries = [("k", [("x", 3), ("y", 7)])]
    assert list(layout.rows(entries)) == [("k", ["x", "y"])]
    assert list(layout.changed(entries, lambda key, found: found[:1])) == [("k", [("x", 7)])]


@pytest.mark.parametrize("kind", ["ValueState", "ListState", "MapState", "table"])
def test_none_drops_a_value(kind):
    assert list(KeyedLayout(kind).filed("k", None, lambda _: 0)) == []


def test_an_empty_list_has_no_entry():
    assert list(KeyedLayout("ListState").filed("k", [], lambda _: 0)) == []


def test_wrong_kinds_and_values_are_rejected():
    with pytest.raises(TypeMismatchError, match="Unknown kind"):
        layout_of("Value", "x")
    with pytest.raises(TypeMismatchError, match="must be a list"):
        list(KeyedLayout("ListState").filed("k", "text", lambda _: 0))
    with pytest.raises(TypeMismatchError, match="must be a mapping"):
        list(KeyedLayout("MapState").filed("k", [1], lambda _: 0))
