"""From a transcript to something that runs: an operator spec for the harness, or a program with event sources."""

from __future__ import annotations

from typing import Any

from headrace.common import Duration, WatermarkStrategy
from headrace.common.output_tag import OutputTag
from headrace.datastream import DataStream, StreamExecutionEnvironment
from headrace.graph import specs
from headrace.testing import AdvanceClock, EndEpoch, Event, event_source, observe
from semantics_kit import functions, more_functions
from semantics_kit.joins import attach_join
from semantics_kit.transcript import JOINS, CutEpoch, End, Feed, OperatorEntry, Transcript
from semantics_kit.windows import attach_window


def resolve(name: Any) -> Any:
    """The function of a name, or an object of the class of that name; `[name, arguments...]` makes it with arguments."""
    name, arguments = (name[0], name[1:]) if isinstance(name, (list, tuple)) else (name, ())
    for module in (functions, more_functions):
        if hasattr(module, name):
            found = getattr(module, name)
            return found(*arguments) if isinstance(found, type) else found
    raise NameError(f"semantics_kit.functions has no {name}")


def strategy(given: dict[str, Any]) -> WatermarkStrategy:
    """The watermark strategy of a transcript's entry."""
    given = dict(given)
    made = WatermarkStrategy.no_watermarks()
    if given.pop("monotonous", False):
        made = WatermarkStrategy.for_monotonous_timestamps()
    if "bounded" in given:
        made = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(given.pop("bounded")))
    if "generator" in given:
        name = given.pop("generator")
        made = WatermarkStrategy.for_generator(getattr(more_functions, name))
    if "assigner" in given:
        made = made.with_timestamp_assigner(resolve(given.pop("assigner")))
    if "idleness" in given:
        made = made.with_idleness(Duration.of_millis(given.pop("idleness")))
    if "alignment" in given:
        group, drift = given.pop("alignment")
        made = made.with_watermark_alignment(group, Duration.of_millis(drift))
    given.pop("none", None)
    if given:
        raise ValueError(f"unknown parts of a strategy: {sorted(given)}")
    return made


# ---------------------------------------------------------------- for the harness


def operator_spec(entry: OperatorEntry) -> specs.OperatorSpec:
    """The operator alone."""
    if entry.kind == "assign_timestamps":
        return specs.AssignTimestamps(strategy(entry.function))
    if entry.kind == "window" or entry.kind in JOINS:
        stream = StreamExecutionEnvironment.get_execution_environment().from_collection([()])
        return _attach(stream, entry, stream).transformation.spec
    function, keyed = resolve(entry.function), entry.key is not None
    makers = {
        "map": lambda: specs.Map(function),
        "flat_map": lambda: specs.FlatMap(function),
        "filter": lambda: specs.Filter(function),
        "reduce": lambda: specs.KeyedReduce(function),
        "process": lambda: specs.Process(function, keyed),
        "co_map": lambda: specs.CoMap(function),
        "co_flat_map": lambda: specs.CoFlatMap(function),
        "co_process": lambda: specs.CoProcess(function, keyed),
        "broadcast_process": lambda: specs.BroadcastProcess(function, keyed, (functions.RULES,)),
    }
    return makers[entry.kind]()


# ---------------------------------------------------------------- for jobs


def event_lists(transcript: Transcript, *, cut_everywhere: bool) -> list[list[list[Event]]]:
    """By input and split: the events of the steps that go in.

    Steps of different inputs or splits happen one after the other because an epoch is cut between them.
    """
    lists: dict[tuple[int, int], list[Event]] = {
        (i, split): [] for i, splits in enumerate(transcript.splits) for split in range(splits)
    }
    open_lists = dict(lists)
    last: tuple[int, int] | None = None

    def cut() -> None:
        if not all(events and events[-1] == EndEpoch() for events in open_lists.values()):
            for events in open_lists.values():
                events.append(EndEpoch())

    for step in transcript.steps:
        if isinstance(step, CutEpoch):
            cut()
        elif isinstance(step, End):
            if len(lists) > 1:
                cut()
            for place in [p for p in open_lists if p[0] == step.input]:
                del open_lists[place]
        elif isinstance(step, Feed):
            place = (step.input, step.split)
            everywhere = isinstance(step.event, AdvanceClock) and len(lists) > 1
            if everywhere or last not in (None, place):
                cut()
            for target in open_lists if everywhere else [place]:
                open_lists[target].append(step.event)
            last = None if everywhere else place
            if everywhere or cut_everywhere:
                cut()
    return [[lists[i, split] for split in range(splits)] for i, splits in enumerate(transcript.splits)]


def build(
    env: StreamExecutionEnvironment, transcript: Transcript, *, cut_everywhere: bool = False
) -> dict[str | None, DataStream]:
    """Adds the transcript's program to `env`; gives what is observed of its main output (None) and its side outputs."""
    streams = []
    for lists, given in zip(event_lists(transcript, cut_everywhere=cut_everywhere), transcript.sources):
        source = env.from_source(event_source(*lists), strategy(given), "events")
        streams.append(source.set_parallelism(transcript.parallelism))
    stream = streams[0].union(*streams[1:]) if transcript.union else streams[0]
    sides: dict[str | None, DataStream] = {}
    for entry in transcript.operators:
        stream = _attach(stream, entry, streams[-1]).set_parallelism(entry.parallelism or 1)
        for tag in entry.sides:
            sides[tag] = stream.get_side_output(OutputTag(tag))
    parallelism = transcript.operators[-1].parallelism or 1
    return {tag: observe(s).set_parallelism(parallelism) for tag, s in {None: stream, **sides}.items()}


def _attach(stream: DataStream, entry: OperatorEntry, second: DataStream) -> DataStream:
    if entry.before is not None:
        stream = getattr(stream, entry.before)()
    if entry.kind == "assign_timestamps":
        return stream.assign_timestamps_and_watermarks(strategy(entry.function))
    if entry.kind == "window":
        over_all = entry.function.get("all", False)
        return attach_window(stream if over_all else stream.key_by(resolve(entry.key)), entry.function)
    if entry.kind in JOINS:
        select = resolve(entry.key)
        return attach_join(entry.kind, stream, second, select, resolve(entry.key2 or entry.key), entry.function)
    function = resolve(entry.function)
    if entry.kind == "broadcast_process":
        keyed = stream if entry.key is None else stream.key_by(resolve(entry.key))
        return keyed.connect(second.broadcast(functions.RULES)).process(function)
    if entry.inputs == 2:
        connected: Any = stream.connect(second)
        if entry.key is not None:
            connected = connected.key_by(resolve(entry.key), resolve(entry.key2 or entry.key))
        return getattr(connected, entry.kind.removeprefix("co_"))(function)
    target: Any = stream if entry.key is None else stream.key_by(resolve(entry.key))
    return getattr(target, entry.kind)(function)
