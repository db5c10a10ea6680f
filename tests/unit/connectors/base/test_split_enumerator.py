"""PeriodicEnumerator: when it searches, and what a failed search leaves behind."""

from __future__ import annotations

import pytest

from headrace.connectors.base.split_enumerator import PeriodicEnumerator, Split, SplitProgress


class Searching(PeriodicEnumerator):
    def __init__(self, seconds):
        super().__init__(seconds, clock=lambda: self.now)
        self.now = 0.0
        self.there = ["a"]
        self.error = None

    def find(self, progress, first):
        if self.error is not None:
            raise self.error
        return [Split(name) for name in self.there if name not in progress.known]


def found(enumerator, *known):
    return [split.id for split in enumerator.discover(SplitProgress(frozenset(known)))]


def test_it_searches_at_its_interval():
    enumerator = Searching(10)
    assert [split.id for split in enumerator.start(1)] == ["a"]
    enumerator.there.append("b")
    enumerator.now = 9.0
    assert found(enumerator, "a") == []
    enumerator.now = 10.0
    assert found(enumerator, "a") == ["b"]


def test_after_a_restore_it_searches_at_once():
    assert found(Searching(10), "b") == ["a"]


def test_without_an_interval_it_only_searches_at_the_start():
    assert found(Searching(None)) == []


def test_a_search_that_fails_is_repeated_at_its_next_turn(caplog):
    enumerator = Searching(10)
    enumerator.error = OSError("the server is away")
    assert found(enumerator) == []
    assert "the server is away" in caplog.text
    enumerator.error, enumerator.now = None, 10.0
    assert found(enumerator) == ["a"]


def test_other_errors_and_those_of_the_start_are_raised():
    enumerator = Searching(0)
    enumerator.error = ValueError("a bug")
    with pytest.raises(ValueError, match="a bug"):
        found(enumerator)
    enumerator.error = OSError("the server is away")
    with pytest.raises(OSError, match="away"):
        enumerator.start(1)
