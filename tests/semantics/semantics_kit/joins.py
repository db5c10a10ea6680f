"""Joins in transcripts: `join`, `co_group` (by window) and `interval_join`, each with a dict like that of `window`."""

from __future__ import annotations

from headrace.datastream import CoGroupFunction, FlatJoinFunction, OutputTag, ProcessJoinFunction
from semantics_kit.windows import ASSIGNERS, EVICTORS, TRIGGERS, made


def pair(left, right):
    return left, right


class Dearer(FlatJoinFunction):
    """Pairs whose second number is greater, with the difference."""

    def join(self, first, second):
        if second[1] > first[1]:
            yield first[0], second[1] - first[1]


class Groups(CoGroupFunction):
    """(numbers of the first, numbers of the second)."""

    def co_group(self, first, second):
        yield tuple(e[1] for e in first), tuple(e[1] for e in second)


class Alone(CoGroupFunction):
    """Elements of either side without a partner."""

    def co_group(self, first, second):
        if not second:
            yield from first
        if not first:
            yield from second


class Pairs(ProcessJoinFunction):
    """(left number, right number, left timestamp, right timestamp)."""

    def process_element(self, left, right, ctx):
        yield left[1], right[1], ctx.get_left_timestamp(), ctx.get_right_timestamp()


def function(name):
    found = globals()[name]
    return found() if isinstance(found, type) else found


def attach_join(kind, first, second, select, select2, given):
    """A join of two streams."""
    given = dict(given)
    run = function(given.pop("function"))
    if kind == "interval_join":
        joined = first.key_by(select).interval_join(second.key_by(select2)).between(*given.pop("between"))
        for name in ("lower_bound_exclusive", "upper_bound_exclusive"):
            if given.pop(name, False):
                joined = getattr(joined, name)()
        for name in ("side_output_left_late_data", "side_output_right_late_data"):
            if name in given:
                joined = getattr(joined, name)(OutputTag(given.pop(name)))
        assert not given, given
        return joined.process(run)
    windowed = (
        getattr(first, kind)(second).where(select).equal_to(select2).window(made(ASSIGNERS, given.pop("assigner")))
    )
    if "trigger" in given:
        windowed = windowed.trigger(made(TRIGGERS, given.pop("trigger")))
    if "evictor" in given:
        windowed = windowed.evictor(made(EVICTORS, given.pop("evictor")))
    if "lateness" in given:
        windowed = windowed.allowed_lateness(given.pop("lateness"))
    if "late" in given:
        windowed = windowed.side_output_late_data(OutputTag(given.pop("late")))
    assert not given, given
    return windowed.apply(run)
