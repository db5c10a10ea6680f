"""Every transcript, on the operator harness, on the local executor (in three ways) and on Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest
from semantics_kit.forgetful import ForgetfulExecutor
from semantics_kit.on_disk import AlternatingExecutor, DiskExecutor
from semantics_kit.replay import build, environment, replay_as_job, replay_on_harness, settings_of
from semantics_kit.transcript import HARNESS, LOCAL, SPARK, Transcript, read_transcripts

import headrace.submission

HERE = Path(__file__).parent
TRANSCRIPTS = read_transcripts(HERE / "transcripts") + read_transcripts(HERE / "windows")
PER_SPARK_JOB = 50


def any_transcript(transcript: Transcript) -> bool:
    return True


def epochs_matter(transcript: Transcript) -> bool:
    """Periodic watermarks and idleness are decided at the end of an epoch: more epochs, more watermarks."""
    return any(transcript.sources) or any(o.kind == "assign_timestamps" for o in transcript.operators)


def may_be_cut(transcript: Transcript) -> bool:
    """Whether more epochs change nothing in the result."""
    return not epochs_matter(transcript)


def has_epochs(transcript: Transcript) -> bool:
    """Whether it can be cut into epochs at all: a batch has only one."""
    return may_be_cut(transcript) and not transcript.batch


def of(way: str, where: Callable[[Transcript], bool] = any_transcript, in_ci: int = 1) -> pytest.MarkDecorator:
    """All transcripts of a way that fulfil a condition; without --long, one of `in_ci`."""
    chosen = [
        pytest.param(t, id=f"{t.file}: {t.name}", marks=[pytest.mark.long] if number % in_ci else [])
        for number, t in enumerate(t for t in TRANSCRIPTS if way in t.runs_on and where(t))
    ]
    return pytest.mark.parametrize("transcript", chosen)


def test_names_are_unique():
    assert [name for name, count in Counter(t.name for t in TRANSCRIPTS).items() if count > 1] == []


def is_combined(transcript: Transcript) -> bool:
    """Whether the job of a transcript has an operator that combines records before the exchange."""
    env = environment(transcript, LOCAL)
    for stream in build(env, transcript).values():
        stream.print()
    return any(node.name.startswith("Local ") for node in env.get_stream_graph().nodes.values())


@of(HARNESS)
def test_on_the_harness(transcript: Transcript):
    replay_on_harness(transcript)


@of(LOCAL)
def test_on_the_local_executor(transcript: Transcript):
    replay_as_job([transcript], LOCAL)


@of(LOCAL, where=may_be_cut)
def test_with_an_epoch_per_step(transcript: Transcript):
    replay_as_job([transcript], LOCAL, cut_everywhere=True)


@of(LOCAL, where=has_epochs, in_ci=2)
def test_with_every_epoch_in_another_process(transcript: Transcript, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(headrace.submission, "LocalExecutor", ForgetfulExecutor)
    replay_as_job([transcript], LOCAL, cut_everywhere=True)


COMBINED = [t for t in TRANSCRIPTS if LOCAL in t.runs_on and is_combined(t)]


def test_enough_transcripts_combine_before_the_exchange():
    assert len(COMBINED) >= 14


@pytest.mark.parametrize("transcript", COMBINED, ids=lambda t: f"{t.file}: {t.name}")
def test_without_combining_before_the_exchange(transcript: Transcript):
    replay_as_job([transcript], LOCAL, **{"headrace.windows.pre-aggregate": "false"})


@of(LOCAL)
def test_with_state_on_disk(transcript: Transcript, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(headrace.submission, "LocalExecutor", DiskExecutor)
    replay_as_job([transcript], LOCAL)


@of(LOCAL, where=has_epochs, in_ci=3)
def test_with_every_epoch_on_the_other_backend(transcript: Transcript, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(headrace.submission, "LocalExecutor", AlternatingExecutor)
    replay_as_job([transcript], LOCAL, cut_everywhere=True)


def test_state_on_disk_is_on_disk(monkeypatch: pytest.MonkeyPatch):
    """The two tests above would show nothing if all state had stayed in memory."""
    monkeypatch.setattr(headrace.submission, "LocalExecutor", DiskExecutor)
    monkeypatch.setattr("semantics_kit.on_disk.closed_with_files", [])
    session = next(t for t in TRANSCRIPTS if t.file.startswith("session") and LOCAL in t.runs_on)
    replay_as_job([session], LOCAL, cut_everywhere=True)
    from semantics_kit.on_disk import closed_with_files

    assert closed_with_files and not any(directory.exists() for directory in closed_with_files)


def spark_jobs() -> list[list[Transcript]]:
    """Transcripts with equal settings share jobs: they run side by side, as independent parts of one graph."""
    chosen = sorted((t for t in TRANSCRIPTS if SPARK in t.runs_on), key=settings_of)
    jobs = []
    for _, same in groupby(chosen, key=settings_of):
        transcripts = list(same)
        jobs += [transcripts[i : i + PER_SPARK_JOB] for i in range(0, len(transcripts), PER_SPARK_JOB)]
    return jobs


@pytest.mark.spark
@pytest.mark.parametrize("transcripts", spark_jobs(), ids=lambda ts: f"{ts[0].name} and {len(ts) - 1} more")
def test_on_spark(transcripts: list[Transcript]):
    replay_as_job(transcripts, SPARK)
