"""Table functions, GROUPING SETS, lookups, checks in front of a sink, and changelogs."""

import pytest
from tests.unit.operators.table.driving import Driven, check

from headrace.errors import BadRecordError
from headrace.graph.table_join_specs import LookupJoin
from headrace.graph.table_specs import ChangelogNormalize, CheckNotNull, Correlate, Expand, SinkMaterialize

I, UB, UA, D = range(4)  # noqa: E741
ALL = ((),)


class Project:
    """A projection."""

    def __init__(self, *columns):
        self.columns = columns

    def rows(self, rows, kinds=False):
        width = (*self.columns, -1) if kinds else self.columns
        return [tuple(None if c is None else row[c] for c in width) for row in rows]


class Positive:
    """A filter: the second column is positive."""

    def rows(self, rows, kinds=False):
        return [row for row in rows if row[1] > 0]


class Different:
    """The second column of the left row differs from the first one of the right row."""

    def pair(self, left, right):
        return left[1] != right[0]


def test_expand_emits_each_row_once_per_projection():
    spec = Expand((Project(0, None), Project(None, 1)), kinds=True)
    check(spec, ALL, [(("left", (1, 2, UB), (3, 4, I)), [(1, None, UB), (None, 2, UB), (3, None, I), (None, 4, I)])])


def split(row):
    return [(word,) for word in row[0].split()]


def test_table_functions():
    rows = [("a b", "a", I), ("", "z", D)]
    check(Correlate(split, 1, kinds=True), ALL, [(("left", *rows), [("a b", "a", "a", I), ("a b", "a", "b", I)])])
    outer = Correlate(split, 1, left_outer=True, condition=Different(), kinds=True)
    check(outer, ALL, [(("left", *rows), [("a b", "a", "b", I), ("", "z", None, D)])])


def test_a_failing_table_function_names_the_row():
    driven = Driven(Correlate(split, 1), *ALL)
    with pytest.raises(Exception, match=r"\(5,\)"):
        driven.left(("a",), (5,))


class Directory:
    """A system to look up rows in."""

    def __init__(self):
        self.asked = []

    def open(self):
        self.asked.append("open")

    def close(self):
        self.asked.append("close")

    def rows(self, key):
        self.asked.append(key)
        return [(key[0], n) for n in range(key[0])]


def test_lookups():
    spec = LookupJoin("LEFT", Directory(), (0, ("constant", "x")), 2, kinds=True)
    driven = Driven(spec, *ALL)
    assert driven.left((2, I), (0, UB), (None, I)) == [
        (2, 2, 0, I),
        (2, 2, 1, I),
        (0, None, None, UB),
        (None, None, None, I),
    ]
    driven.close()
    assert spec.lookup.asked == ["open", (2, "x"), (0, "x"), "close"]


def test_lookups_are_remembered():
    spec = LookupJoin("INNER", Directory(), (0,), 2, cache_rows=2, cache_ttl=10)
    driven = Driven(spec, *ALL)
    driven.left((1,), (2,), (1,), (3,), (1,), (2,))
    driven.at(10)
    assert driven.left((2,)) == [(2, 2, 0), (2, 2, 1)]
    assert spec.lookup.asked == ["open", (1,), (2,), (3,), (2,), (2,)]


def test_nulls_are_kept_away_from_a_sink():
    driven = Driven(CheckNotNull(((1, "name"),)), *ALL)
    assert driven.left((None, "a")) == [(None, "a")]
    with pytest.raises(BadRecordError, match="Column 'name' is NOT NULL"):
        driven.left((1, None))
    check(CheckNotNull(((1, "name"),), drop=True), ALL, [(("left", (1, None), (2, "b")), [(2, "b")])])


def test_text_is_fitted_to_its_length():
    spec = CheckNotNull((), lengths=((0, 3, True), (1, 2, False), (2, 2, True)))
    check(
        spec, ALL, [(("left", ("ab", "abc", b"a"), ("abcd", "a", None)), [("ab ", "ab", b"a\0"), ("abc", "a", None)])]
    )


# -- changelogs -------------------------------------------------------------------------------------------------------


def test_upserts_become_changes():
    script = [
        (("left", ("k", 1, UA)), [("k", 1, I)]),
        (("left", ("k", 1, UA)), []),
        (("left", ("k", 2, I)), [("k", 1, UB), ("k", 2, UA)]),
        (("left", ("k", None, D)), [("k", 2, D)]),
        (("left", ("k", None, D)), []),
    ]
    check(ChangelogNormalize((0,)), ((0,),), script, left=0)
    script[2] = (script[2][0], [("k", 2, UA)])
    check(ChangelogNormalize((0,), update_before=False), ((0,),), script, left=0)


def test_rows_that_a_condition_excludes_count_as_deleted():
    script = [
        (("left", ("k", -1, UA)), []),
        (("left", ("k", 1, UA)), [("k", 1, I)]),
        (("left", ("k", -2, UA)), [("k", 1, D)]),
        (("left", ("k", 3, UA)), [("k", 3, I)]),
    ]
    check(ChangelogNormalize((0,), condition=Positive()), ((0,),), script, left=1)


def test_a_sink_shows_the_last_row_that_claims_its_key():
    script = [
        (("left", ("k", 1, I)), [("k", 1, I)]),
        (("left", ("k", 2, UA)), [("k", 2, UA)]),
        (("left", ("k", 3, I)), [("k", 3, UA)]),
        (("left", ("k", 1, UB)), []),
        (("left", ("k", 3, D)), [("k", 2, UA)]),
        (("left", ("k", 9, D)), []),
        (("left", ("k", 2, D)), [("k", 2, D)]),
    ]
    check(SinkMaterialize((0,), None), ((0,),), script, left=0)


def test_a_sink_recognizes_rows_by_the_upsert_key():
    script = [
        (("left", ("k", 1, "a", I)), [("k", 1, "a", I)]),
        (("left", ("k", 2, "b", I)), [("k", 2, "b", UA)]),
        (("left", ("k", 1, "c", UA)), [("k", 1, "c", UA)]),
        (("left", ("k", 2, "x", D)), [("k", 1, "c", UA)]),
        (("left", ("k", 1, "y", D)), [("k", 1, "y", D)]),
    ]
    check(SinkMaterialize((0,), (1,)), ((0,),), script, left=0)
