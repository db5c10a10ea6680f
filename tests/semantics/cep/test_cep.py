"""Every CEP transcript: on the operator harness, with a restore after every input, as jobs on the local executor and on Spark."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path

import cep_kit
import pytest
from cep_kit import LATE, MAX, TIMEOUT, CepTranscript
from semantics_kit.on_disk import AlternatingExecutor, DiskExecutor

import headrace.submission
from headrace.common import Configuration, WatermarkStrategy
from headrace.datastream import StreamExecutionEnvironment
from headrace.graph.specs import CollectSink
from headrace.testing import AdvanceClock, EndEpoch, OperatorHarness, Record, WatermarkTo, event_source

TRANSCRIPTS = cep_kit.read(Path(__file__).parent)
PER_JOB = 20
SIDES = (TIMEOUT.tag_id, LATE.tag_id)

each = pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda t: t.name)


def test_names_are_unique():
    assert [name for name, count in Counter(t.name for t in TRANSCRIPTS).items() if count > 1] == []


def harness_for(transcript: CepTranscript, **settings) -> OperatorHarness:
    return OperatorHarness(cep_kit.spec_of(transcript), cep_kit.by_key, side_outputs=SIDES, **settings)


def feed(harness: OperatorHarness, given: cep_kit.Input) -> None:
    if given.what == "event":
        harness.process_element(given.event, given.time)
    elif given.what == "watermark":
        harness.process_watermark(given.time)
    else:
        harness.set_processing_time(given.time)


def taken(harness: OperatorHarness) -> list[str]:
    main = [e.value for e in harness.take_events() if isinstance(e, Record)]
    timeouts = [e.value for e in harness.take_events(TIMEOUT.tag_id) if isinstance(e, Record)]
    late = [f"late {e.value.id}" for e in harness.take_events(LATE.tag_id) if isinstance(e, Record)]
    return main + timeouts + late


def run(transcript: CepTranscript, *, restoring: bool) -> list[str]:
    harness = harness_for(transcript)
    seen = []
    for given in transcript.input:
        feed(harness, given)
        seen += taken(harness)
        if restoring:
            harness.end_epoch()
            state = pickle.loads(pickle.dumps(harness.snapshot()))
            watermark, clock = harness.operator.watermark, harness.clock.now()
            harness = harness_for(transcript, state=state, clock=clock)
            if watermark > -MAX - 1:
                harness.process_watermark(watermark)
                harness.take_events()
    return seen


@each
@pytest.mark.parametrize("restoring", [False, True], ids=["straight", "restored"])
def test_on_the_harness(transcript: CepTranscript, restoring: bool):
    if transcript.raises is not None:
        with pytest.raises(ValueError if transcript.input == () else Exception) as caught:
            run(transcript, restoring=restoring)
        assert transcript.raises in str(caught.value)
        return
    assert run(transcript, restoring=restoring) == list(transcript.expect)


def jobs() -> list[list[CepTranscript]]:
    chosen = [t for t in TRANSCRIPTS if t.raises is None]
    return [chosen[i : i + PER_JOB] for i in range(0, len(chosen), PER_JOB)]


def run_job(transcripts: list[CepTranscript], executor: str, cut: bool) -> None:
    """Runs them side by side in one job and compares what each gives, by output."""
    configuration = Configuration()
    for key, value in {
        "headrace.executor": executor,
        "headrace.testing.clock": "0",
        "headrace.epoch.idle-poll-ms": "1",
        "headrace.progress": "never",
    }.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
    outputs = {}
    for number, transcript in enumerate(transcripts):
        events = []
        for given in transcript.input:
            if given.what == "event":
                events.append(Record(given.event, given.time))
            elif given.what == "clock":
                events.append(AdvanceClock(given.time))
            elif given.time < MAX:
                events.append(WatermarkTo(given.time))
            if cut:
                events.append(EndEpoch())
        source = env.from_source(event_source(events), WatermarkStrategy.no_watermarks(), f"source {number}")
        func = cep_kit.MatchesAndTimeouts() if transcript.timeouts else cep_kit.Matches()
        found = cep_kit.pattern_stream(source, transcript).process(func)
        for kind, stream in {
            "match": found,
            "timeout": found.get_side_output(TIMEOUT),
            "late": found.get_side_output(LATE),
        }.items():
            stream._sink(CollectSink(f"{number} {kind}"), "collect")
            outputs[f"{number} {kind}"] = (transcript, kind)
    job = env.submit("cep transcripts")
    job.wait(240)
    wrong = {}
    for collect_id, (transcript, kind) in outputs.items():
        seen = [v if isinstance(v, str) else f"late {v.id}" for v in job.results(collect_id)]
        expected = [line for line in transcript.expect if line.startswith(kind)]
        if seen != expected:
            wrong[transcript.name] = (seen, expected)
    assert wrong == {}


@pytest.mark.parametrize("cut", [False, True], ids=["one epoch", "an epoch per input"])
@pytest.mark.parametrize("transcripts", jobs(), ids=lambda ts: f"{ts[0].name} and {len(ts) - 1} more")
def test_on_the_local_executor(transcripts: list[CepTranscript], cut: bool):
    # Watermarks that follow each other in one epoch count as the last of them.
    run_job([t for t in transcripts if t.event_time and (cut or not t.each_watermark)], "local", cut)
    for transcript in transcripts:
        if not transcript.event_time:
            run_job([transcript], "local", cut)


@pytest.mark.parametrize("executor", [DiskExecutor, AlternatingExecutor])
@pytest.mark.parametrize("transcripts", jobs(), ids=lambda ts: f"{ts[0].name} and {len(ts) - 1} more")
def test_with_state_on_disk(transcripts: list[CepTranscript], executor: type, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(headrace.submission, "LocalExecutor", executor)
    run_job([t for t in transcripts if t.event_time][::3], "local", True)
    for transcript in [t for t in transcripts if not t.event_time][::5]:
        run_job([transcript], "local", True)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("transcripts", jobs(), ids=lambda ts: f"{ts[0].name} and {len(ts) - 1} more")
def test_on_spark(transcripts: list[CepTranscript]):
    run_job([t for t in transcripts if t.event_time and not t.each_watermark], "spark", False)
