"""State that the watermark bounds: none is left once it has passed, and it does not grow with the length of a stream."""

import random

import pytest
from tests.unit.operators.table.accumulations import Count, Largest, Sum
from tests.unit.operators.table.driving import Driven

from headrace.graph import cep_pattern as cep
from headrace.graph.table_join_specs import IntervalJoin, JoinSide, TemporalJoin, WindowJoin
from headrace.graph.table_sort_specs import Deduplicate, Match, TemporalSort, WindowRank
from headrace.graph.table_specs import AggregateSpec, OverAggregate, OverFrame, SortOrder

SIDE = JoinSide((0,), 3, time=1)
SECOND = 1_000_000


class Prices:
    """The measures of a match: its values."""

    def row(self, match):
        return tuple(row[2] for rows in match.values() for row in rows)


def pattern(within):
    strict = cep.Contiguity.STRICT
    even = cep.Condition(lambda row: row[2] % 2 == 0)
    never = cep.Condition(lambda row: row[2] > 1000)
    loop = cep.Step("B", strict, even, repetition=cep.Repetition.LOOP, inner=strict, greedy=True)
    steps = (cep.Step("A", strict, even), loop, cep.Step("C", strict, never, window=within))
    return cep.PatternData(steps, cep.Skip(cep.SkipKind.PAST_LAST))


CALLS = (AggregateSpec(Sum(), (2,)), AggregateSpec(Count(), ()), AggregateSpec(Largest(), (2,)))
OPERATORS = {
    **{
        f"interval join {kind}": IntervalJoin(kind, SIDE, SIDE, -2000, 3000)
        for kind in ("INNER", "LEFT", "RIGHT", "FULL")
    },
    "interval join of the past": IntervalJoin("FULL", SIDE, SIDE, -5000, -3000),
    **{
        f"window join {kind}": WindowJoin(kind, JoinSide((0,), 4), JoinSide((0,), 4), 3, 3)
        for kind in ("INNER", "FULL", "SEMI", "ANTI")
    },
    "over range": OverAggregate((0,), 1, OverFrame(False, -4000), CALLS),
    "over range of the same time": OverAggregate((0,), 1, OverFrame(False, 0), CALLS),
    "window rank": WindowRank((0,), 3, (SortOrder(2, True),), 1, 3, True),
    "window deduplication": WindowRank((0,), 3, (SortOrder(1),), 1, 1, False),
    "match": Match((0,), 1, pattern(4000), Prices()),
    "sort": TemporalSort(1, (SortOrder(1), SortOrder(2))),
    "temporal join INNER": TemporalJoin("INNER", SIDE, SIDE),
    "temporal join LEFT": TemporalJoin("LEFT", SIDE, SIDE),
    "over all rows": OverAggregate((0,), 1, OverFrame(False, None), CALLS),
    "over two rows": OverAggregate((0,), 1, OverFrame(True, -1), CALLS),
    "first rows": Deduplicate((0,), 1, True, False),
    "last rows": Deduplicate((0,), 1, True, True),
}

KEYS = 5
LEFT = {
    "sort": 1,
    "temporal join INNER": KEYS,
    "temporal join LEFT": KEYS,
    "over all rows": KEYS,
    "over two rows": KEYS,
    "first rows": KEYS,
    "last rows": KEYS,
}
"""The entries that stay: a sort remembers the time of its last rows, of all keys together. A temporal join keeps the last
version of each key, OVER without a range of time the sums or last rows of each key, a deduplication one row of each key."""


def rows(number, seconds, start=0):
    """Return rows (key, time, value, end of the window of 5 seconds), somewhat out of order, in runs of one second."""
    chosen = random.Random(number)
    for second in range(start, start + seconds):
        run = []
        for _ in range(6):
            time = (second * 1000 + chosen.randrange(-900, 1000) + 10_000) * 1000
            end = time - time % (5 * SECOND) + 5 * SECOND
            run.append((f"k{chosen.randrange(5)}", time, chosen.randrange(20), end))
        yield second, run


def driven_for(spec, backend="heap"):
    joins = isinstance(spec, (IntervalJoin, TemporalJoin, WindowJoin))
    keys = ((), ()) if isinstance(spec, TemporalSort) else ((0,), (0,))
    return Driven(spec, *keys[: 1 + joins], backend=backend), joins


def feed(driven, joins, seconds, spec, start=0):
    """Feed rows, with watermarks that are one second behind. Return the entries after each ten seconds."""
    width = 3 if isinstance(spec, (IntervalJoin, TemporalJoin)) else 4
    counts, emitted = [], 0
    for (second, left), (_, right) in zip(rows(1, seconds, start), rows(2, seconds, start)):
        emitted += len(driven.left(*[row[:width] for row in left]))
        if joins:
            emitted += len(driven.right(*[row[:width] for row in right]))
        emitted += len(driven.to(second * 1000 + 9000))
        if second % 10 == 9:
            counts.append(driven.entries())
    return counts, emitted


@pytest.mark.parametrize("backend", ["heap", "disk without memory"])
@pytest.mark.parametrize("name", list(OPERATORS))
def test_nothing_is_left_behind_the_watermark(name, backend):
    spec = OPERATORS[name]
    driven, joins = driven_for(spec, backend)
    try:
        _, emitted = feed(driven, joins, 30, spec)
        assert driven.entries() > 0
        emitted += len(driven.to(60_000))
        assert driven.entries() == LEFT.get(name, 0)
        assert emitted > 0 or name == "match"
    finally:
        driven.close()


@pytest.mark.parametrize("name", list(OPERATORS))
def test_state_does_not_grow_with_the_stream(name):
    spec = OPERATORS[name]
    driven, joins = driven_for(spec)
    try:
        counts, _ = feed(driven, joins, 200, spec)
        assert max(counts[10:]) <= 2 * max(counts[:5])
    finally:
        driven.close()


@pytest.mark.parametrize("name", list(OPERATORS))
def test_nothing_is_left_after_a_restart_either(name):
    spec = OPERATORS[name]
    driven, joins = driven_for(spec)
    try:
        feed(driven, joins, 20, spec)
        driven.restart()
        driven.to(60_000)
        assert driven.entries() == LEFT.get(name, 0)
    finally:
        driven.close()
