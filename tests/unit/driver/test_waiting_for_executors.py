"""A job that runs without an executor says since when; the short version of tests/ui/test_waiting_job.py, without Spark."""

from __future__ import annotations

import pytest

from headrace.common import Configuration, WatermarkStrategy
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.number_seq import NumberSequenceSource
from headrace.local.executor import LocalExecutor
from headrace.service.responses.jobs import live_details, live_overview


def test_a_job_says_since_when_it_has_no_executor(monkeypatch: pytest.MonkeyPatch) -> None:
    here = LocalExecutor.executors
    configuration = Configuration().set_string("headrace.executor", "local")
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
    source = NumberSequenceSource(1, 10**12)
    env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").filter(lambda value: False).print()
    job = env.submit("endless")
    try:
        assert job.view().waiting_since_ms == -1
        monkeypatch.setattr(LocalExecutor, "executors", lambda self: [])
        since = job.view().waiting_since_ms
        assert since > 0 and job.view().waiting_since_ms == since, "it does not move while the job waits"
        assert live_details(job.view(), since + 1)["waiting-since"] == since
        assert live_overview(job.view(), since + 1)["glance"]["waiting-since"] == since
        monkeypatch.setattr(LocalExecutor, "executors", here)
        assert job.view().waiting_since_ms == -1
    finally:
        job.cancel()
    assert job.view().waiting_since_ms == -1
