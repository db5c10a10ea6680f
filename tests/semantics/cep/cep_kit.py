"""How a CEP transcript is read, and how it is run on the operator harness and as a job. Decides nothing about results.

A file holds a list of transcripts:

    - name: a loop is relaxed inside                    # unique
      steps: [begin a, next b one_or_more, followed_by c]
      input: a1@1 b1@2 x1@3 b2@4 c1@5 end
      expect:
        - match a=a1 b=b1 c=c1 @5                       # step=events, then the time of the result

A step is a relation (begin, next, followed_by, followed_by_any, not_next, not_followed_by), a name, and calls: those of
`Pattern` (`times(1,3)`, `until(d)`, `within(10)`: milliseconds, `one_or_more(gap4)` with a window_time), `gap(5)` for within
PREVIOUS_AND_CURRENT, and conditions: `is(a|b)` kinds of events (left out: the kind is the step's name), `any` (no condition),
`gt(3)`, and the iterative ones `rising(step)` (value greater than that of the last event of the step), `sum(step<9)`,
`count(step<2)`; `or(d)` adds a kind. A group is `{followed_by: [steps], calls: times(2)}`.

Input: an event is KIND NUMBER =VALUE @TIME /KEY (`b2=5@4/x`; value 0 and key k if left out), `|5` a watermark, `^7` the
clock, `end` the end. `skip` is to_next, past_last, to_first(b) or to_last(b), with `strict` to raise on a miss;
`time: processing`, `comparator: value`, `late: side`, `timeouts: ignored` (the function does not handle them),
`watermarks: each` (it matters that none is left out). `raises` stands instead of `expect`: a piece of the message.

Expectations were recorded from Flink 2.1.0 (its CepOperator in its operator test harness), in the order in which it emitted
them; a transcript with `flink` says where headrace differs and why.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from headrace.cep import (
    CEP,
    AfterMatchSkipStrategy,
    Pattern,
    PatternProcessFunction,
    TimedOutPartialMatchHandler,
    WithinType,
)
from headrace.common import Duration
from headrace.common.output_tag import OutputTag
from headrace.graph.specs import Cep

MAX = 2**63 - 1
_CALL = re.compile(r"(?P<name>\w+)(?:\((?P<arguments>[^)]*)\))?")
_EVENT = re.compile(r"(?P<id>(?P<kind>[a-z]+)\d*)(?:=(?P<value>-?\d+))?(?:@(?P<time>-?\d+))?(?:/(?P<key>\w+))?$")
TIMEOUT, LATE = OutputTag("timeout"), OutputTag("late")


@dataclass(frozen=True, eq=False)
class Happening:
    """An event; equal to others of the same kind and value, so that only its occurrence tells it apart."""

    id: str
    kind: str
    value: int
    key: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Happening) and (self.kind, self.value) == (other.kind, other.value)

    def __hash__(self) -> int:
        return hash((self.kind, self.value))


@dataclass(frozen=True)
class Input:
    """One thing that goes in: an event, a watermark, a move of the clock."""

    what: str
    time: int | None
    event: Happening | None = None


@dataclass(frozen=True)
class CepTranscript:
    """One transcript."""

    name: str
    steps: list[Any]
    input: tuple[Input, ...]
    expect: tuple[str, ...] = ()
    raises: str | None = None
    skip: str | None = None
    event_time: bool = True
    comparator: bool = False
    late: bool = False
    timeouts: bool = True
    each_watermark: bool = False
    about: str = ""
    flink: str = "same"
    raw: dict[str, Any] = field(default_factory=dict)


def read(directory: Path) -> list[CepTranscript]:
    """All transcripts, file by file."""
    return [
        read_one(entry, path.stem)
        for path in sorted(directory.glob("*.yaml"))
        for entry in yaml.safe_load(path.read_text(encoding="utf-8"))
    ]


def read_one(entry: dict[str, Any], file: str) -> CepTranscript:
    """One entry; refuses what it does not know."""
    entry = dict(entry)
    raw = dict(entry)
    transcript = CepTranscript(
        name=f"{file}: {entry.pop('name')}",
        steps=entry.pop("steps"),
        input=tuple(_input(word) for word in entry.pop("input", "").split()),
        expect=tuple(entry.pop("expect", ())),
        raises=entry.pop("raises", None),
        skip=entry.pop("skip", None),
        event_time={"event": True, "processing": False}[entry.pop("time", "event")],
        comparator=entry.pop("comparator", None) == "value",
        late=entry.pop("late", None) == "side",
        timeouts=entry.pop("timeouts", None) != "ignored",
        each_watermark=entry.pop("watermarks", None) == "each",
        about=entry.pop("about", ""),
        flink=entry.pop("flink", "same"),
        raw=raw,
    )
    if entry:
        raise ValueError(f"{transcript.name}: unknown fields {sorted(entry)}")
    return transcript


def _input(word: str) -> Input:
    if word == "end":
        return Input("watermark", MAX)
    if word[0] == "|":
        return Input("watermark", int(word[1:]))
    if word[0] == "^":
        return Input("clock", int(word[1:]))
    match = _EVENT.match(word)
    if match is None:
        raise ValueError(f"no event: {word}")
    happening = Happening(match["id"], match["kind"], int(match["value"] or 0), match["key"] or "k")
    return Input("event", None if match["time"] is None else int(match["time"]), happening)


# ---------------------------------------------------------------- patterns


def pattern_of(transcript: CepTranscript) -> Pattern:
    """Builds it by the calls that a program would write."""
    return _sequence(transcript.steps, skip_of(transcript.skip))


def skip_of(text: str | None) -> AfterMatchSkipStrategy | None:
    """A skip strategy from its text."""
    if text is None:
        return None
    name, arguments = calls(text)[0]
    simple = {"to_next": "skip_to_next", "past_last": "skip_past_last_event", "no_skip": "no_skip"}
    if name in simple:
        return getattr(AfterMatchSkipStrategy, simple[name])()
    strategy = getattr(AfterMatchSkipStrategy, f"skip_{name}")(arguments[0])
    return strategy.throw_exception_on_miss() if text.endswith("strict") else strategy


def calls(text: str) -> list[tuple[str, list[str]]]:
    """`times(2) optional` as names with arguments."""
    return [(m["name"], [a for a in (m["arguments"] or "").split(",") if a]) for m in _CALL.finditer(text)]


def _sequence(steps: list[Any], skip: AfterMatchSkipStrategy | None) -> Pattern:
    pattern: Pattern | None = None
    for step in steps:
        if isinstance(step, dict):
            step = dict(step)
            words = step.pop("calls", "")
            ((relation, inner),) = step.items()
            name: Any = _sequence(inner, None)
            default = None
        else:
            relation, name, words = (*step.split(None, 2), "")[:3]
            default = f"is({name})"
        pattern = Pattern.begin(name, skip) if relation == "begin" else getattr(pattern, relation)(name)
        made = calls(words)
        if default and not any(call in ("is", "any") for call, _ in made):
            made = [*calls(default), *made]
        for call, arguments in made:
            _apply(pattern, call, arguments)
    assert pattern is not None
    return pattern


def _apply(pattern: Pattern, call: str, arguments: list[str]) -> None:
    numbers = [int(a) for a in arguments if a.isdigit()]
    match call:
        case "any":
            pass
        case "is" | "gt" | "rising" | "sum" | "count":
            pattern.where(condition(call, arguments))
        case "or":
            pattern.or_(condition("is", arguments))
        case "until":
            pattern.until(condition("is", arguments))
        case "within":
            pattern.within(Duration.of_millis(numbers[0]))
        case "gap":
            pattern.within(Duration.of_millis(numbers[0]), WithinType.PREVIOUS_AND_CURRENT)
        case "times" | "times_or_more" | "one_or_more":
            gaps = [Duration.of_millis(int(a.removeprefix("gap"))) for a in arguments if a.startswith("gap")]
            getattr(pattern, call)(*numbers, **({"window_time": gaps[0]} if gaps else {}))
        case "optional" | "greedy" | "consecutive" | "allow_combinations":
            getattr(pattern, call)()
        case _:
            raise ValueError(f"unknown call {call}")


def condition(call: str, arguments: list[str]) -> Any:
    """A condition from its text."""
    if call == "is":
        kinds = arguments[0].split("|")
        return lambda event: event.kind in kinds
    if call == "gt":
        return lambda event: event.value > int(arguments[0])
    step, _, limit = arguments[0].partition("<")
    if call == "rising":
        return lambda event, ctx: all(event.value > e.value for e in ctx.get_events_for_pattern(step)[-1:])
    if call == "sum":
        return lambda event, ctx: event.value + sum(e.value for e in ctx.get_events_for_pattern(step)) < int(limit)
    return lambda event, ctx: len(ctx.get_events_for_pattern(step)) < int(limit)


# ---------------------------------------------------------------- functions


def shown(match: dict[str, list[Happening]]) -> str:
    """`a=a1 b=b1,b2`."""
    return " ".join(f"{step}={','.join(e.id for e in events)}" for step, events in match.items())


class Matches(PatternProcessFunction):
    """Shows matches."""

    def process_match(self, match, ctx):
        yield f"match {shown(match)} @{ctx.timestamp()}"


class MatchesAndTimeouts(Matches, TimedOutPartialMatchHandler):
    """Shows matches, and timed-out ones in a side output."""

    def process_timed_out_match(self, match, ctx):
        ctx.output(TIMEOUT, f"timeout {shown(match)} @{ctx.timestamp()}")


def by_value(left: Happening, right: Happening) -> int:
    """The comparator."""
    return left.value - right.value


def by_key(event: Happening) -> str:
    """The key."""
    return event.key


def spec_of(transcript: CepTranscript) -> Cep:
    """The operator's spec."""
    func = MatchesAndTimeouts() if transcript.timeouts else Matches()
    comparator = by_value if transcript.comparator else None
    data = pattern_of(transcript).data()
    return Cep(data, func, transcript.event_time, comparator, LATE.tag_id if transcript.late else None)


def pattern_stream(stream: Any, transcript: CepTranscript) -> Any:
    """The public API on a stream."""
    found = CEP.pattern(stream.key_by(by_key), pattern_of(transcript), by_value if transcript.comparator else None)
    if not transcript.event_time:
        found = found.in_processing_time()
    return found.side_output_late_data(LATE) if transcript.late else found
