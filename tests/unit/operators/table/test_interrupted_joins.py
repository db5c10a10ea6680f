"""Joins, top N, deduplication, sorts and patterns that are interrupted emit the same in all, on both backends, rescaled."""

import pytest
from tests.unit.operators.table.interrupted import changes, check_interrupted, one_input, two_inputs

from headrace.cep import Pattern
from headrace.common import Duration
from headrace.graph.table_join_specs import IntervalJoin, JoinSide, RegularJoin, TemporalJoin, WindowJoin
from headrace.graph.table_sort_specs import Deduplicate, Limit, Match, Rank, Sort, TemporalSort, WindowRank
from headrace.graph.table_specs import ChangelogNormalize, SinkMaterialize, SortOrder

OUTER = ["INNER", "LEFT", "RIGHT", "FULL"]
BOTH = [(0,), (0,)]


class Different:
    """left[2] and right[2] differ in their last bit."""

    def pair(self, left, right):
        return left[2] % 2 != right[2] % 2


def in_processing_time(script):
    return [("clock", step[1]) if step[0] == "watermark" else step for step in script]


@pytest.mark.parametrize("event_time", [True, False], ids=["event-time", "processing-time"])
@pytest.mark.parametrize("kind", OUTER)
def test_interval_join(kind, event_time):
    side = JoinSide((0,), 3, time=1)
    spec = IntervalJoin(kind, side, side, -30, 20, event_time=event_time, condition=Different())
    script = two_inputs(7)
    check_interrupted(spec, BOTH, script if event_time else in_processing_time(script), left=0)


@pytest.mark.parametrize("kind", [*OUTER, "SEMI", "ANTI"])
def test_window_join(kind):
    script = [
        step if step[0] == "watermark" else (step[0], *[(k, (m // 50_000 + 1) * 50_000, n) for k, m, n in step[1:]])
        for step in two_inputs(8)
    ]
    spec = WindowJoin(kind, JoinSide((0,), 3), JoinSide((0,), 3), 1, 1, condition=Different())
    check_interrupted(spec, BOTH, script, left=0)


@pytest.mark.parametrize("unique", [None, (1,)], ids=["bag", "unique"])
@pytest.mark.parametrize("kind", [*OUTER, "SEMI", "ANTI"])
def test_regular_join(kind, unique):
    side = JoinSide((0,), 3, kinds=True, unique_key=unique)
    spec = RegularJoin(kind, side, side, condition=Different())
    script = changes(9, steps=60, sides=("left", "right"))
    check_interrupted(spec, BOTH, script, kinds=(True, True))


@pytest.mark.parametrize("ttl", [50, 10_000_000])
def test_regular_join_with_time_to_live(ttl):
    side = JoinSide((0,), 3, kinds=True, ttl=ttl)
    script = []
    for number, step in enumerate(changes(10, sides=("left", "right"))):
        script += [step, ("clock", number * 10)]
    check_interrupted(RegularJoin("FULL", side, side), BOTH, script, expires=True)


@pytest.mark.parametrize("kind", ["INNER", "LEFT"])
def test_temporal_join(kind):
    script = two_inputs(11)
    spec = TemporalJoin(kind, JoinSide((0,), 3, time=1), JoinSide((0,), 3, time=1))
    check_interrupted(spec, BOTH, script)


def test_temporal_join_of_processing_time():
    script = two_inputs(12)
    spec = TemporalJoin("LEFT", JoinSide((0,), 3), JoinSide((0,), 3), event_time=False)
    check_interrupted(spec, BOTH, in_processing_time(script))


UP = (SortOrder(2), SortOrder(1, descending=True))


@pytest.mark.parametrize("function", ["ROW_NUMBER", "RANK", "DENSE_RANK"])
@pytest.mark.parametrize("kinds", [False, True], ids=["inserts", "changes"])
@pytest.mark.parametrize("rank_column", [False, True])
def test_rank(kinds, rank_column, function):
    if function != "ROW_NUMBER" and kinds:
        pytest.skip("ranks of values are computed over inserts")
    script = changes(13)
    if not kinds:
        script = [(side, *[row[:3] for row in rows if row[3] in (0, 2)]) for side, *rows in script]
    order = UP if function == "ROW_NUMBER" else UP[:1]
    check_interrupted(Rank((0,), order, 1, 3, rank_column, function, kinds=kinds), [(0,)], script)


def test_rank_of_upserts():
    rows = [[row for row in rows if row[3] in (0, 2)] for _, *rows in changes(14, upserts=True)]
    script = [("left", *[(key, number, -value, kind) for key, number, value, kind in batch]) for batch in rows]
    spec = Rank((0,), UP[:1], 1, 2, True, kinds=True, upsert_key=(1,))
    check_interrupted(spec, [(0,)], script)


@pytest.mark.parametrize("keep_last", [False, True])
@pytest.mark.parametrize("event_time", [True, False], ids=["event-time", "processing-time"])
def test_deduplicate(event_time, keep_last):
    script = one_input(15, steps=20)
    script = script if event_time else in_processing_time(script)
    check_interrupted(Deduplicate((1,), 0 if event_time else None, event_time, keep_last), [(1,)], script)


@pytest.mark.parametrize("end", [1, 3])
def test_window_rank(end):
    script = [
        step if step[0] == "watermark" else (step[0], *[((m // 50_000 + 1) * 50_000, *rest) for m, *rest in step[1:]])
        for step in one_input(16)
    ]
    spec = WindowRank((1,), 0, (SortOrder(2), SortOrder(3)), 1, end, rank_column=True)
    check_interrupted(spec, [(1,)], script, left=0)


@pytest.mark.parametrize("event_time", [True, False], ids=["event-time", "processing-time"])
def test_sort_on_time(event_time):
    script = one_input(17)
    script = script if event_time else in_processing_time(script)
    spec = TemporalSort(0, (SortOrder(0), SortOrder(2)), event_time=event_time)
    check_interrupted(spec, [()], script, left=1 if event_time else 0, most=1)  # the time of the last results


def test_sort_and_limit():
    script = [step for step in one_input(18) if step[0] == "left"]
    check_interrupted(Limit(3, 40), [()], script, most=1)
    check_interrupted(Sort((SortOrder(2),), 1, 30), [()], [*script, ("watermark", (1 << 63) - 1)], left=0, most=1)


def test_changelog_normalize():
    script = changes(19, upserts=True, keys=("a",))
    spec = ChangelogNormalize((1,))
    check_interrupted(spec, [(1,)], script)


@pytest.mark.parametrize("upsert_key", [None, (1,)])
def test_sink_materialize(upsert_key):
    check_interrupted(SinkMaterialize((0,), upsert_key), [(0,)], changes(20))


class Numbers:
    """The numbers of the rows of a match, as measures."""

    def row(self, match):
        return tuple(tuple(row[2] for row in rows) for _, rows in sorted(match.items()))


def odd(row):
    return row[2] is not None and row[2] % 2 == 1


def even(row):
    return row[2] is not None and row[2] % 2 == 0


@pytest.mark.parametrize("event_time", [True, False], ids=["event-time", "processing-time"])
def test_match(event_time):
    script = one_input(21)
    script = script if event_time else in_processing_time(script)
    pattern = Pattern.begin("a").where(odd).next("b").where(even).one_or_more().greedy().next("c").where(odd)
    spec = Match((1,), 0, pattern.within(Duration.of_millis(200)).data(), Numbers(), event_time=event_time)
    check_interrupted(spec, [(1,)], script)
