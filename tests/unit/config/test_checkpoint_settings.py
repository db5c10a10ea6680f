"""What the runtime makes of the keys of checkpoints: Flink's values, and a clear word about all others."""

from __future__ import annotations

import pytest

from headrace.common import Configuration
from headrace.common.errors import ConfigurationError
from headrace.config.checkpoint_settings import read_durability_settings
from headrace.config.runtime_settings import read_runtime_settings
from headrace.config.worker_settings import TimeLimit

PREFIX = "execution.checkpointing."


def settings(**values: str) -> Configuration:
    configuration = Configuration()
    for key, value in values.items():
        configuration.set_string(PREFIX + key.replace("_", "-"), value)
    return configuration


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("mode", "EXACTLY_TWICE"),
        ("externalized_checkpoint_retention", "RETAIN"),
        ("storage", "com.example.Storage"),
        ("storage", "filesystem"),
        ("create_subdir", "false"),
    ],
)
def test_what_cannot_be_done_is_refused(key, value):
    with pytest.raises(ConfigurationError):
        read_durability_settings(settings(**{key: value}))


def test_flinks_values_are_taken_in_any_case():
    found = read_durability_settings(
        settings(
            mode="at_least_once",
            storage="FileSystem",
            dir="/tmp/c",
            externalized_checkpoint_retention="retain_on_cancellation",
        )
    )
    assert found.keep_on_cancel
    assert found.directory == "/tmp/c"
    old = Configuration().set_string("state.backend.fs.checkpointdir", "/tmp/old")
    assert read_durability_settings(old).directory == "/tmp/old"


@pytest.mark.parametrize(("interval", "periodic"), [("0 s", False), ("10 ms", True)])
def test_an_interval_of_nothing_means_no_checkpoints(interval, periodic):
    assert read_durability_settings(settings(interval=interval)).periodic is periodic


def test_a_task_may_not_keep_checkpoints_waiting_for_longer_than_the_job_survives():
    options = read_runtime_settings(settings(interval="1 s", timeout="20 s", tolerable_failed_checkpoints="2"))
    assert options.time_limit(with_checkpoint=True) == TimeLimit(60.0, PREFIX + "timeout")
    assert options.time_limit(with_checkpoint=False) is None
    assert read_runtime_settings(settings(timeout="20 s")).time_limit(with_checkpoint=True) is None, (
        "no periodic checkpoints"
    )
    with_both = settings(interval="1 s", timeout="20 s").set_string("headrace.task.timeout", "5 s")
    assert read_runtime_settings(with_both).time_limit(with_checkpoint=True) == TimeLimit(5.0, "headrace.task.timeout")
