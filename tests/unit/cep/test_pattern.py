"""What may be built, what is refused, and with which words."""

from __future__ import annotations

import pickle

import cloudpickle
import pytest

from headrace.cep import (
    CEP,
    AfterMatchSkipStrategy,
    GroupPattern,
    IterativeCondition,
    MalformedPatternException,
    Pattern,
    SimpleCondition,
    WithinType,
)
from headrace.common import Duration
from headrace.datastream import StreamExecutionEnvironment
from headrace.graph.cep_pattern import AllOf, AnyOf, Contiguity, Repetition
from headrace.operators.cep.compiler import compile_pattern

SECOND = Duration.of_seconds(1)


def a() -> Pattern:
    return Pattern.begin("a")


def test_steps_keep_their_order_and_contiguity():
    pattern = a().next("b").followed_by("c").followed_by_any("d").not_next("e").next("f").not_followed_by("g").next("h")
    assert [(s.name, s.contiguity) for s in pattern.data().steps] == [
        ("a", Contiguity.STRICT),
        ("b", Contiguity.STRICT),
        ("c", Contiguity.RELAXED),
        ("d", Contiguity.ANY),
        ("e", Contiguity.NOT_NEXT),
        ("f", Contiguity.STRICT),
        ("g", Contiguity.NOT_FOLLOWED),
        ("h", Contiguity.STRICT),
    ]


def test_settings_change_the_step_in_place():
    pattern = a()
    assert pattern.one_or_more() is pattern
    assert pattern.where(bool) is pattern
    assert pattern.data().steps[0].repetition is Repetition.LOOP


def test_a_group_may_still_change_until_the_pattern_is_used():
    inner = Pattern.begin("x")
    outer = a().followed_by(inner).times(2)
    inner.where(str.isdigit)
    assert isinstance(outer, GroupPattern)
    assert outer.get_raw_pattern() is inner
    assert outer.data().steps[1].group[0].condition.call is str.isdigit


def test_where_adds_and_or_adds_or():
    step = a().where(str.isalpha).where(str.isupper).or_(str.isdigit).data().steps[0]
    assert isinstance(step.condition, AnyOf)
    assert isinstance(step.condition.left, AllOf)


@pytest.mark.parametrize(
    ("condition", "iterative"),
    [
        (lambda event: True, False),
        (lambda event, ctx: True, True),
        (lambda event, limit=3: True, False),
        (lambda *args: True, False),
        (str.isdigit, False),
        (bool, False),
        (SimpleCondition.of(lambda event: True), False),
    ],
)
def test_how_a_condition_is_called(condition, iterative):
    assert a().where(condition).data().steps[0].condition.iterative is iterative


def test_condition_objects():
    class Iterating(IterativeCondition):
        def filter(self, value, ctx):
            return True

    class DuckWithLife:
        def filter(self, value, ctx):
            return True

        def open(self, runtime_context):
            pass

    duck = DuckWithLife()
    assert a().where(Iterating()).data().steps[0].condition.iterative
    assert a().where(duck).data().steps[0].condition.owner is duck


@pytest.mark.parametrize("condition", [None, 3, "b", SimpleCondition])
def test_what_is_no_condition(condition):
    with pytest.raises(TypeError, match="'a'"):
        a().where(condition)


def build_times_optional_zero() -> Pattern:
    return a().times(0, 2).optional()


REFUSED = {
    "':' in a name": lambda: Pattern.begin("a:b"),
    "an empty name": lambda: Pattern.begin(""),
    "the reserved name": lambda: a().next("$endState$"),
    "until without a loop": lambda: a().until(bool),
    "until on times": lambda: a().times(2).until(bool),
    "until twice": lambda: a().one_or_more().until(bool).until(bool),
    "a quantifier twice": lambda: a().one_or_more().times(2),
    "times twice": lambda: a().times(2).times(3),
    "times(0)": lambda: a().times(0),
    "times(-1)": lambda: a().times(-1),
    "times(0, 0)": lambda: a().times(0, 0),
    "times(3, 2)": lambda: a().times(3, 2),
    "times_or_more(0)": lambda: a().times_or_more(0),
    "optional twice": lambda: a().optional().optional(),
    "optional after times(0, n)": build_times_optional_zero,
    "greedy on a single step": lambda: a().greedy(),
    "greedy on a group": lambda: Pattern.begin(a()).one_or_more().greedy(),
    "greedy with combinations": lambda: a().one_or_more().allow_combinations().greedy(),
    "optional after greedy": lambda: a().one_or_more().greedy().followed_by("b").optional(),
    "consecutive on a single step": lambda: a().consecutive(),
    "combinations on a single step": lambda: a().allow_combinations(),
    "consecutive twice": lambda: a().one_or_more().consecutive().consecutive(),
    "combinations twice": lambda: a().one_or_more().allow_combinations().allow_combinations(),
    "consecutive and combinations": lambda: a().one_or_more().consecutive().allow_combinations(),
    "combinations and consecutive": lambda: a().one_or_more().allow_combinations().consecutive(),
    "an optional NOT": lambda: a().not_next("b").optional(),
    "a looping NOT": lambda: a().not_followed_by("b").one_or_more(),
    "a NOT with times": lambda: a().not_followed_by("b").times(2),
    "a greedy NOT": lambda: a().not_next("b").greedy(),
    "not_next after optional": lambda: a().optional().not_next("b"),
    "not_followed_by after optional": lambda: a().optional().not_followed_by("b"),
    "not_next after times(0, n)": lambda: a().times(0, 2).not_next("b"),
    "where on a group": lambda: Pattern.begin(a()).where(bool),
    "or on a group": lambda: Pattern.begin(a()).or_(bool),
    "subtype on a group": lambda: Pattern.begin(a()).subtype(int),
    "a group as NOT": lambda: a().not_next(Pattern.begin("b")),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_while_it_is_built(what):
    with pytest.raises(MalformedPatternException, match=r"\(pattern '"):
        REFUSED[what]()


UNCOMPILABLE = {
    "duplicate names": lambda: a().next("a"),
    "duplicate names in a group": lambda: a().next(Pattern.begin("b").next("a")),
    "not_followed_by at the end": lambda: a().not_followed_by("b"),
    "a gap longer than the window": lambda: (
        a().next("b").within(SECOND, WithinType.PREVIOUS_AND_CURRENT).within(Duration.of_millis(1))
    ),
    "skip to a step that is not there": lambda: Pattern.begin("a", AfterMatchSkipStrategy.skip_to_first("z")),
    "skip to a step in a group": lambda: Pattern.begin(a(), AfterMatchSkipStrategy.skip_to_last("a")),
}


@pytest.mark.parametrize("what", UNCOMPILABLE)
def test_refused_when_it_is_compiled(what):
    pattern = UNCOMPILABLE[what]()
    stream = StreamExecutionEnvironment.get_execution_environment().from_collection([1])
    for use in (lambda: compile_pattern(pattern.data()), pattern.describe, lambda: CEP.pattern(stream, pattern)):
        with pytest.raises(MalformedPatternException, match=r"\(pattern '"):
            use()


def test_a_malformed_pattern_is_a_value_error():
    assert issubclass(MalformedPatternException, ValueError)


@pytest.mark.parametrize(
    "call",
    [
        lambda: Pattern.begin(3),
        lambda: Pattern.begin("a", "skip"),
        lambda: a().times("2"),
        lambda: a().times(True),
        lambda: a().within(5),
        lambda: a().within(SECOND, "FIRST_AND_LAST"),
        lambda: a().subtype("int"),
        lambda: a().next(None),
        lambda: AfterMatchSkipStrategy.skip_to_first(3),
        lambda: CEP.pattern([1], a()),
    ],
)
def test_wrong_types(call):
    with pytest.raises(TypeError):
        call()


def test_not_followed_by_at_the_end_needs_a_window():
    compile_pattern(a().not_followed_by("b").within(SECOND).data())
    compile_pattern(a().not_followed_by("b").within(SECOND, WithinType.PREVIOUS_AND_CURRENT).data())


def test_within_none_changes_nothing():
    assert a().within(SECOND).within(None).data().steps[0].window == 1000


def test_times_takes_a_window_as_second_argument_too():
    step = a().times(2, SECOND).data().steps[0]
    assert (step.least, step.most, step.loop_gap) == (2, 2, 1000)


def test_skip_strategies_compare_and_show_themselves():
    assert AfterMatchSkipStrategy.skip_to_next() == AfterMatchSkipStrategy.skip_to_next()
    assert AfterMatchSkipStrategy.skip_to_first("a") != AfterMatchSkipStrategy.skip_to_last("a")
    assert len({AfterMatchSkipStrategy.no_skip(), AfterMatchSkipStrategy.no_skip()}) == 1


def test_a_pattern_as_data_can_be_pickled():
    pattern = a().where(str.isdigit).one_or_more().followed_by("b").subtype(int).within(SECOND)
    assert pickle.loads(pickle.dumps(pattern.data())) == pattern.data()
    limit = 3
    cloudpickle.loads(cloudpickle.dumps(a().where(lambda event: event > limit).data()))
