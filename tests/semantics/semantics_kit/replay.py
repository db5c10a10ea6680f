"""Replaying transcripts: step by step on the harness, or as a job whose observed events are compared as a whole."""

from __future__ import annotations

from typing import Any

from headrace.common import Configuration
from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from headrace.graph.specs import CollectSink
from headrace.testing import AdvanceClock, Event, Idle, OperatorHarness, Record, WatermarkTo
from semantics_kit.pipelines import build, operator_spec, resolve
from semantics_kit.transcript import CutEpoch, End, Expect, Feed, Transcript

JOB_SECONDS = 120


# ---------------------------------------------------------------- comparing


def comparable(events: list[Event], *, marks: bool, any_order: bool) -> list[Any]:
    """Events in a form in which expected and observed ones are equal."""
    kept: list[Any] = []
    for event in events:
        if isinstance(event, Record):
            kept.append(Record(_tuples(event.value), event.timestamp))
        elif marks:
            in_a_row = isinstance(event, WatermarkTo) and kept and isinstance(kept[-1], WatermarkTo)
            if in_a_row and event != WatermarkTo(MAX_WATERMARK):
                kept[-1] = event
            else:
                kept.append(event)
    return sorted(kept, key=repr) if any_order else kept


def _tuples(value: Any) -> Any:
    return tuple(_tuples(v) for v in value) if isinstance(value, (list, tuple)) else value


# ---------------------------------------------------------------- on the harness


def replay_on_harness(transcript: Transcript) -> None:
    """Feeds step by step; what is expected after a step must have come out before the next one."""
    (entry,) = transcript.operators
    harness = OperatorHarness(
        operator_spec(entry),
        None if entry.key is None else resolve(entry.key),
        None if entry.key is None or entry.kind == "broadcast_process" else resolve(entry.key2 or entry.key),
        entry.sides,
        batch=transcript.batch,
        clock=transcript.clock,
        watermark_records=transcript.watermark_every,
        inputs=entry.inputs,
    )
    expected: dict[str | None, list[Event]] = {tag: [] for tag in (None, *entry.sides)}
    fed: list[Any] = []

    def check() -> None:
        for tag, events in expected.items():
            seen = harness.take_events(tag)
            shape = {"marks": transcript.sees_marks and tag is None, "any_order": transcript.any_order}
            assert comparable(seen, **shape) == comparable(events, **shape), f"after {fed[-1:]} from output {tag}"
            events.clear()

    for step in transcript.steps:
        if isinstance(step, Expect):
            expected[step.side].append(step.event)
            continue
        if any(expected.values()):
            check()
        fed.append(step)
        _feed(harness, step)
    check()
    harness.close()


def _feed(harness: OperatorHarness, step: Feed | CutEpoch | End) -> None:
    match step:
        case CutEpoch():
            harness.end_epoch()
        case End(None):
            harness.end_input()
        case End(number):
            harness.process_watermark(MAX_WATERMARK, number)
        case Feed(Record(value, timestamp), 0):
            harness.process_element(value, timestamp)
        case Feed(Record(value, timestamp), 1):
            harness.process_element2(value, timestamp)
        case Feed(WatermarkTo(timestamp), number):
            harness.process_watermark(timestamp, number)
        case Feed(Idle(idle), number):
            harness.process_idle(idle, number)
        case Feed(AdvanceClock(now)):
            harness.set_processing_time(now)
        case _:
            raise TypeError(step)


# ---------------------------------------------------------------- as jobs


def environment(transcript: Transcript, executor: str, **more: Any) -> StreamExecutionEnvironment:
    """An environment with the settings of a transcript; those of several may be run in one job if they are equal."""
    configuration = Configuration()
    settings = {
        "headrace.executor": executor,
        "headrace.watermark.interval-records": transcript.watermark_every,
        "headrace.testing.clock": transcript.clock,
        "headrace.epoch.idle-poll-ms": 1,
        "headrace.progress": "never",
        **more,
    }
    for key, value in settings.items():
        configuration.set_string(key, str(value))
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH if transcript.batch else RuntimeExecutionMode.STREAMING)
    return env


def settings_of(transcript: Transcript) -> tuple[Any, ...]:
    """What transcripts must have in common to share a job."""
    return transcript.batch, transcript.watermark_every, transcript.clock


def replay_as_job(
    transcripts: list[Transcript], executor: str, *, cut_everywhere: bool = False, **settings: Any
) -> None:
    """Runs all of them side by side in one job, then compares each output."""
    env = environment(transcripts[0], executor, **settings)
    outputs: dict[str, tuple[Transcript, str | None]] = {}
    for transcript in transcripts:
        for tag, stream in build(env, transcript, cut_everywhere=cut_everywhere).items():
            collect_id = f"{transcript.name} / {tag or 'main'}"
            stream._sink(CollectSink(collect_id), "observed")
            outputs[collect_id] = (transcript, tag)
    job = env.submit("transcripts")
    job.wait(JOB_SECONDS)
    wrong = {}
    for collect_id, (transcript, tag) in outputs.items():
        shape = {"marks": transcript.sees_marks and tag is None, "any_order": transcript.any_order}
        seen = comparable(list(job.results(collect_id)), **shape)
        expected = comparable(transcript.expected(tag), **shape)
        if seen != expected:
            wrong[collect_id] = _difference(seen, expected)
    assert not wrong, "\n\n".join(f"{name}\n{text}" for name, text in wrong.items())


def _difference(seen: list[Any], expected: list[Any]) -> str:
    lines = []
    for i in range(max(len(seen), len(expected))):
        left = seen[i] if i < len(seen) else "nothing"
        right = expected[i] if i < len(expected) else "nothing"
        lines.append(
            f"  {' ' if left == right else '!'} {left}   (expected {right})" if left != right else f"    {left}"
        )
    return "\n".join(lines)
