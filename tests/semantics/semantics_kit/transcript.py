"""What a transcript is, and how it is read from YAML. Never runs anything.

A file holds a list of transcripts:

    - name: a timer fires when the watermark reaches it         # unique; the id of the test
      about: more words, if the name does not say it all
      operator: {process: RemindAt, key: first}                 # one operator: also runs on the harness
      steps:
        - {record: [ann, 20], at: 5}
        - {watermark: 20}
        - {expect: [ann, 20], at: 20}                           # what comes out before the next input goes in

Instead of `operator`, `pipeline` gives a list of them. An operator is `{KIND: FUNCTION}` with KIND one of map, flat_map,
filter, reduce, process, co_map, co_flat_map, co_process, broadcast_process, assign_timestamps, window, join, co_group,
interval_join (the last four: see `semantics_kit.windows` and `semantics_kit.joins`); FUNCTION names something in
`semantics_kit.functions`, or is `[NAME, arguments...]` to call it first (for assign_timestamps it is a strategy, see below).
Beside KIND: `key`, `key2` (selectors, also by name), `sides` (tags whose records are expected), `parallelism`, `before`
(partitioning in front of it: rebalance, broadcast, ...).

Other fields: `mode` (streaming | batch), `union: true` (the two inputs are united, not connected), `source` and `source2`
(strategies of the inputs), `settings` (watermark_every, clock, parallelism), `order: any` (results may come in any order),
`runs_on` (a list that leaves ways out), `flink` (`same`, the default; else why Flink itself does not show this).

A strategy is `{none: true}`, `{monotonous: true}`, `{bounded: MILLISECONDS}` or `{generator: NAME}`, with `assigner: NAME`,
`idleness: MILLISECONDS`, `alignment: [GROUP, MILLISECONDS]`.

Steps that go in: `record` or `records` (with `at`), `watermark`, `idle: true|false`, each with `input: 2` for the second input
and `split: N` for another split of the source; `clock: MILLISECONDS` (processing time), `epoch: end`, `end: true` (or `end: N`
for one input only; the end of all is implied at the end of the steps). Steps that must come out: `expect` or `expects`
(with `at`; left out it means: has no timestamp), `side: TAG`; `expect_watermark`, `expect_idle`: as soon as one of these is
there, all watermarks and idleness of the main output are compared. Several watermarks in a row count as the last of them,
but the one at the end (`<max>`) is always seen.

Lists are tuples for the functions. `<min>` and `<max>` are the lowest and highest timestamp.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from headrace.common.watermark_strategy import MAX_WATERMARK, MIN_TIMESTAMP
from headrace.testing import AdvanceClock, Event, Idle, Record, WatermarkTo

HARNESS, LOCAL, SPARK = "harness", "local", "spark"
KINDS = (
    "map", "flat_map", "filter", "reduce", "process", "co_map", "co_flat_map", "co_process", "broadcast_process",
    "assign_timestamps", "window", "join", "co_group", "interval_join",
)  # fmt: skip
JOINS = ("join", "co_group", "interval_join")
TWO_INPUTS = ("co_map", "co_flat_map", "co_process", "broadcast_process", *JOINS)


@dataclass(frozen=True)
class Feed:
    """An event goes into an input (0 or 1), there into a split."""

    event: Event
    input: int = 0
    split: int = 0


@dataclass(frozen=True)
class CutEpoch:
    """An epoch ends."""


@dataclass(frozen=True)
class End:
    """An input ends; with None all that are left."""

    input: int | None = None


@dataclass(frozen=True)
class Expect:
    """An event comes out, of the main output or a side output."""

    event: Event
    side: str | None = None


Step = Feed | CutEpoch | End | Expect


@dataclass(frozen=True)
class OperatorEntry:
    """One operator of the pipeline, by names."""

    kind: str
    function: Any
    key: Any = None
    key2: Any = None
    sides: tuple[str, ...] = ()
    parallelism: int | None = None
    before: str | None = None

    @property
    def inputs(self) -> int:
        """How many inputs it has."""
        return 2 if self.kind in TWO_INPUTS else 1


@dataclass(frozen=True)
class Transcript:
    """One transcript."""

    name: str
    file: str
    operators: tuple[OperatorEntry, ...]
    steps: tuple[Step, ...]
    about: str = ""
    batch: bool = False
    union: bool = False
    any_order: bool = False
    sources: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    watermark_every: int = 1000
    clock: int = 0
    parallelism: int = 1
    runs_on: tuple[str, ...] = (HARNESS, LOCAL, SPARK)
    flink: str = "same"
    sees_marks: bool = field(default=False)
    """Whether watermarks and idleness of the main output are compared."""

    @property
    def inputs(self) -> int:
        """How many sources it has."""
        return 2 if self.union or self.operators[0].inputs == 2 else 1

    @property
    def sides(self) -> tuple[str, ...]:
        """The tags of all operators' side outputs that are expected."""
        return tuple(tag for operator in self.operators for tag in operator.sides)

    @property
    def splits(self) -> tuple[int, ...]:
        """How many splits each source has."""
        feeds = [s for s in self.steps if isinstance(s, Feed)]
        return tuple(max([1, *(f.split + 1 for f in feeds if f.input == i)]) for i in range(self.inputs))

    def expected(self, side: str | None = None) -> list[Event]:
        """All that must come out of one output."""
        return [s.event for s in self.steps if isinstance(s, Expect) and s.side == side]


def read_transcripts(directory: Path) -> list[Transcript]:
    """All transcripts of a directory, in the order of its files."""
    found = []
    for path in sorted(directory.glob("*.yaml")):
        for entry in yaml.safe_load(path.read_text(encoding="utf-8")):
            try:
                found.append(read_transcript(path.stem, dict(entry)))
            except Exception as error:
                raise ValueError(f"{path.name}, transcript {entry.get('name')!r}: {error}") from error
    return found


def read_transcript(file: str, entry: dict[str, Any]) -> Transcript:
    """One transcript; refuses what it does not know.

    >>> t = read_transcript("f", {"name": "n", "operator": {"map": "double"}, "steps": [{"record": 1}, {"expect": 2}]})
    >>> [type(step).__name__ for step in t.steps]
    ['Feed', 'Expect', 'End']
    """
    steps: list[Step] = []
    for step in entry.pop("steps"):
        steps += _steps(dict(step))
    if not any(step == End() for step in steps):
        steps.append(End())
    operators = entry.pop("pipeline") if "pipeline" in entry else [entry.pop("operator")]
    settings = entry.pop("settings", {})
    single = len(operators) == 1 and not any(k in entry for k in ("union", "source", "source2"))
    ways = entry.pop("runs_on", [HARNESS, LOCAL, SPARK])
    marks = (WatermarkTo, Idle)
    transcript = Transcript(
        name=entry.pop("name"),
        file=file,
        operators=tuple(_operator(dict(o)) for o in operators),
        steps=tuple(steps),
        about=entry.pop("about", ""),
        batch={"streaming": False, "batch": True}[entry.pop("mode", "streaming")],
        union=entry.pop("union", False),
        any_order={"defined": False, "any": True}[entry.pop("order", "defined")],
        sources=(entry.pop("source", {}), entry.pop("source2", {})),
        watermark_every=settings.pop("watermark_every", 1000),
        clock=settings.pop("clock", 0),
        parallelism=settings.pop("parallelism", 1),
        runs_on=tuple(w for w in ways if w != HARNESS or single),
        flink=entry.pop("flink", "same"),
        sees_marks=any(isinstance(s, Expect) and isinstance(s.event, marks) for s in steps),
    )
    if entry or settings:
        raise ValueError(f"unknown fields {sorted({**entry, **settings})}")
    return transcript


def _operator(entry: dict[str, Any]) -> OperatorEntry:
    (kind,) = [k for k in entry if k in KINDS]
    function = entry.pop(kind)
    entry["sides"] = tuple(entry.get("sides", ()))
    return OperatorEntry(kind, function, **entry)


def _steps(step: dict[str, Any]) -> list[Step]:
    where = {"input": step.pop("input", 1) - 1, "split": step.pop("split", 0)}
    side = step.pop("side", None)
    at = step.pop("at", None)
    ((kind, given),) = step.items()
    match kind:
        case "record":
            return [Feed(Record(value(given), time(at)), **where)]
        case "records":
            return [Feed(Record(value(v), time(t)), **where) for v, t in zip(given, at or [None] * len(given))]
        case "watermark":
            return [Feed(WatermarkTo(time(given)), **where)]
        case "idle":
            return [Feed(Idle(given), **where)]
        case "clock":
            return [Feed(AdvanceClock(given), **where)]
        case "epoch":
            return [CutEpoch()]
        case "end":
            return [End(given - 1 if given is not True else None)]
        case "expect":
            return [Expect(Record(value(given), time(at)), side)]
        case "expects":
            times = at if isinstance(at, list) else [at] * len(given)
            return [Expect(Record(value(v), time(t)), side) for v, t in zip(given, times, strict=True)]
        case "expect_watermark":
            return [Expect(WatermarkTo(time(given)))]
        case "expect_idle":
            return [Expect(Idle(given))]
        case _:
            raise ValueError(f"unknown step {kind!r}")


_TIMES = {"<min>": MIN_TIMESTAMP, "<max>": MAX_WATERMARK}


def time(given: Any) -> Any:
    """A timestamp of a step."""
    return _TIMES.get(given, given)


def value(given: Any) -> Any:
    """A value of a step: lists become tuples, `<min>` and `<max>` numbers.

    >>> value(["a", ["<max>"]])
    ('a', (9223372036854775807,))
    """
    if isinstance(given, list):
        return tuple(value(v) for v in given)
    if isinstance(given, dict):
        return {value(k): value(v) for k, v in given.items()}
    return _TIMES.get(given, given) if isinstance(given, str) else given
