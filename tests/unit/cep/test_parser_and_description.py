"""Patterns from text, and what `describe` says about patterns."""

from __future__ import annotations

import pytest

from headrace.cep import AfterMatchSkipStrategy, MalformedPatternException, Pattern
from headrace.cep.parser import PatternSyntaxError
from headrace.common import Duration
from headrace.graph.cep_pattern import Contiguity

SAME = {
    "a": Pattern.begin("a"),
    "a b": Pattern.begin("a").followed_by("b"),
    "a -> b ..> c": Pattern.begin("a").next("b").followed_by_any("c"),
    "a !n b": Pattern.begin("a").not_followed_by("n").followed_by("b"),
    "a -> !n -> b": Pattern.begin("a").not_next("n").next("b"),
    "a+ b* c?": Pattern.begin("a").one_or_more().followed_by("b").one_or_more().optional().followed_by("c").optional(),
    "a{2} b{1,3} c{2,}": Pattern.begin("a").times(2).followed_by("b").times(1, 3).followed_by("c").times_or_more(2),
    "a+! b+% c+& d": Pattern.begin("a").one_or_more().consecutive().followed_by("b").one_or_more().allow_combinations()
    .followed_by("c").one_or_more().greedy().followed_by("d"),
    "a{2}?!& b": Pattern.begin("a").times(2).optional().consecutive().greedy().followed_by("b"),
    "s (a -> b){2} e": Pattern.begin("s").followed_by(Pattern.begin("a").next("b")).times(2).followed_by("e"),
    "(a (b c)+)? d": Pattern.begin(
        Pattern.begin("a").followed_by(Pattern.begin("b").followed_by("c")).one_or_more()
    ).optional().followed_by("d"),
    "a within 10s": Pattern.begin("a").within(Duration.of_seconds(10)),
    "a b within 2 min": Pattern.begin("a").followed_by("b").within(Duration.of_minutes(2)),
}  # fmt: skip


@pytest.mark.parametrize("text", SAME)
def test_a_text_means_the_same_as_calls(text):
    assert Pattern.parse(text).data() == SAME[text].data()


@pytest.mark.parametrize("text", [t for t in SAME if "within" not in t])
def test_a_pattern_shows_itself_as_its_text(text):
    assert repr(Pattern.parse(text)).endswith(f"({text!r})")


def test_conditions_and_skip_strategy():
    skip = AfterMatchSkipStrategy.skip_to_next()
    pattern = Pattern.parse("a b+ until(stop)", {"a": str.isalpha, "stop": str.isspace}, skip)
    first, second = pattern.data().steps
    assert first.condition.call is str.isalpha
    assert second.condition is None and second.until.call is str.isspace
    assert pattern.get_after_match_skip_strategy() is skip


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("", 1),
        ("a ->", 5),
        ("a )", 3),
        ("(a b", 5),
        ("a # b", 3),
        ("a +b", 3),
        ("!a", 1),
        ("a ..> !b", 7),
        ("a ! -> b", 5),
        ("a within", 9),
        ("a within s", 10),
        ("a within 10", 12),
        ("a within 10 parsecs", 13),
        ("a within 10s b", 14),
        ("a b{0}", 3),
        ("a b& c", 3),
        ("a b? !c", 7),
        ("a b+ until stop", 12),
        ("a b+ until(stop)", 12),
        ("a b until(stop)", 3),
        ("a (b c){2}&", 3),
    ],
)
def test_errors_point_at_the_column(text, column):
    conditions = {} if text == "a b+ until(stop)" else {"stop": bool} if "until(" in text else {}
    with pytest.raises(PatternSyntaxError) as caught:
        Pattern.parse(text, conditions)
    assert caught.value.column == column
    shown = str(caught.value).splitlines()
    mark = next(line for line in shown if line.strip() == "^")
    assert isinstance(caught.value, MalformedPatternException)
    assert mark.index("^") == 12 + column - 1


def test_a_condition_without_a_step():
    with pytest.raises(MalformedPatternException, match="'c'"):
        Pattern.parse("a b", {"c": bool})


# ---------------------------------------------------------------- describe


def test_states_and_edges():
    description = Pattern.begin("a").where(bool).followed_by("b").where(bool).within(Duration.of_seconds(1)).describe()
    assert description.edges == (
        ("b", "take", "$endState$", "is(b)"),
        ("b", "ignore", "b", "not is(b)"),
        ("a", "take", "b", "is(a)"),
    )
    assert description.warnings == ()
    assert str(description).splitlines()[:3] == ["pattern: a b", "a (start)", "  take    -> b  if is(a)"]


def test_drawings_name_every_state():
    description = Pattern.parse("a b+ !n c").describe()
    for drawing in (description.mermaid(), description.graphviz()):
        assert all(f'"{name}"' in drawing for name in ("a", "b", "n", "c", "$endState$"))
    assert description.mermaid().startswith("flowchart LR")
    assert description.graphviz().startswith("digraph pattern {")


@pytest.mark.parametrize(
    ("text", "conditions", "warning"),
    [
        ("a b+& c", {}, "'c' can never take an event"),
        ("a b+& c", {}, "the pattern can never match"),
        ("a b+ c", {"b": bool, "c": bool}, "the loop 'b' has no time limit"),
        ("a b", {"b": bool}, "the step 'b' has no time limit"),
        ("a b+&", {"b": bool}, "greedy() has no effect"),
        ("a !b c", {"c": bool}, "forbids every event"),
    ],
)
def test_warnings(text, conditions, warning):
    assert any(warning in w for w in Pattern.parse(text, conditions).describe().warnings)


@pytest.mark.parametrize("text", ["a -> b", "a b within 1s", "a{2}! -> b", "a+! -> b"])
def test_no_warnings(text):
    assert Pattern.parse(text, {"a": bool, "b": bool}).describe().warnings == ()


def test_contiguity_names_are_those_of_the_calls():
    assert [c.value for c in Contiguity] == ["next", "followed_by", "followed_by_any", "not_next", "not_followed_by"]
