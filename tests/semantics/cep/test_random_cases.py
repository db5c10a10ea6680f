"""Random patterns on random events: `random_cases.jsonl` holds them with what Flink 2.1.0 gave for each.

A line has `steps` (relation, name or group, condition, calls), `skip`, settings, `input` (events with kind, value and time,
watermarks, clock moves) and `flink`: matches (M), timed-out matches (T) and late events (L), in order, with events by number.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from headrace.cep import (
    AfterMatchSkipStrategy,
    Pattern,
    PatternProcessFunction,
    TimedOutPartialMatchHandler,
    WithinType,
)
from headrace.common import Duration
from headrace.common.output_tag import OutputTag
from headrace.graph.specs import Cep
from headrace.testing import OperatorHarness, Record

CASES = [json.loads(line) for line in Path(__file__).with_name("random_cases.jsonl").read_text().splitlines()]
TIMEOUT = OutputTag("timeout")
RELATIONS = {
    "next": "next",
    "followedBy": "followed_by",
    "followedByAny": "followed_by_any",
    "notNext": "not_next",
    "notFollowedBy": "not_followed_by",
}


class Happening(NamedTuple):
    number: int
    kind: str
    value: int


def holds(condition: dict[str, Any], event: Happening, ctx: Any) -> bool:
    ((what, given),) = condition.items()
    match what:
        case "and":
            return all(holds(part, event, ctx) for part in given)
        case "name":
            return event.kind in given
        case "gt":
            return event.value > given
        case "gtlast":
            return all(event.value > e.value for e in ctx.get_events_for_pattern(given)[-1:])
        case "sumlt":
            return event.value + sum(e.value for e in ctx.get_events_for_pattern(given[0])) < given[1]
        case "countlt":
            return len(ctx.get_events_for_pattern(given[0])) < given[1]
    raise ValueError(what)


def condition_of(condition: dict[str, Any]) -> Any:
    if next(iter(condition)) in ("and", "name", "gt"):
        return lambda event: holds(condition, event, None)
    return lambda event, ctx: holds(condition, event, ctx)


def skip_of(given: list[Any] | None) -> AfterMatchSkipStrategy | None:
    if given is None:
        return None
    kind, *rest = given
    if kind in ("next", "past"):
        return getattr(AfterMatchSkipStrategy, {"next": "skip_to_next", "past": "skip_past_last_event"}[kind])()
    strategy = getattr(AfterMatchSkipStrategy, f"skip_to_{kind}")(rest[0])
    return strategy.throw_exception_on_miss() if rest[1:] else strategy


def build(steps: list[dict[str, Any]], skip: AfterMatchSkipStrategy | None = None) -> Pattern:
    pattern: Any = None
    for step in steps:
        name = build(step["group"]) if "group" in step else step["name"]
        pattern = Pattern.begin(name, skip) if pattern is None else getattr(pattern, RELATIONS[step["rel"]])(name)
        condition = step.get("cond")
        for part in [] if condition is None else condition.get("and", [condition]):
            pattern.where(condition_of(part))
        if "or" in step:
            pattern.or_(condition_of(step["or"]))
        for call, *arguments in step.get("ops", ()):
            apply(pattern, call, arguments)
    return pattern


def apply(pattern: Pattern, call: str, given: list[Any]) -> None:
    def span(position: int) -> Duration | None:
        return Duration.of_millis(given[position]) if len(given) > position else None

    match call:
        case "oneOrMore":
            pattern.one_or_more(window_time=span(0))
        case "times" | "timesW":
            pattern.times(given[0], window_time=span(1))
        case "range":
            pattern.times(given[0], given[1], window_time=span(2))
        case "timesOrMore":
            pattern.times_or_more(given[0], window_time=span(1))
        case "until":
            pattern.until(condition_of(given[0]))
        case "within":
            pattern.within(span(0))
        case "withinPrev":
            pattern.within(span(0), WithinType.PREVIOUS_AND_CURRENT)
        case "allowCombinations":
            pattern.allow_combinations()
        case _:
            getattr(pattern, call)()


class Matches(PatternProcessFunction):
    def process_match(self, match, ctx):
        yield f"M {shown(match)} @{ctx.timestamp()}"


class WithTimeouts(Matches, TimedOutPartialMatchHandler):
    def process_timed_out_match(self, match, ctx):
        yield TIMEOUT, f"T {shown(match)} @{ctx.timestamp()}"


def shown(match: dict[str, list[Happening]]) -> str:
    return " ".join(f"{name}={','.join(str(e.number) for e in events)}" for name, events in match.items())


def run(case: dict[str, Any]) -> list[str]:
    in_event_time = not case.get("proc", False)
    func = WithTimeouts() if case.get("timeouts", True) else Matches()
    comparator = (lambda left, right: left.value - right.value) if case.get("comparator") else None
    late = "late" if case.get("late") else None
    spec = Cep(build(case["steps"], skip_of(case.get("skip"))).data(), func, in_event_time, comparator, late)
    harness = OperatorHarness(spec, lambda event: "k", side_outputs=("timeout", "late"))
    seen: list[str] = []
    number = 0
    for what, *given in case["input"]:
        if what == "e":
            harness.process_element(Happening(number, *given[:2]), given[2] if in_event_time else None)
            number += 1
        elif what == "clock":
            harness.set_processing_time(given[0])
        else:
            harness.process_watermark(given[0] if given else 2**63 - 1)
        for tag in (None, "timeout", "late"):
            records = [e.value for e in harness.take_events(tag) if isinstance(e, Record)]
            seen += [f"L {v.number}" if tag == "late" else v for v in records]
    return seen


@pytest.mark.parametrize("number", range(len(CASES)))
def test_as_in_flink(number: int):
    case = CASES[number]
    assert run(case) == case["flink"], json.dumps(case["steps"])
