"""Values that a configuration cannot have are refused, as Flink refuses them: when they are taken over, or when the job starts."""

from __future__ import annotations

import pytest

from headrace.common import Configuration
from headrace.common.errors import ConfigurationError, InvalidProgramError
from headrace.datastream import CheckpointingMode


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("execution.checkpointing.mode", "twice"),
        ("execution.checkpointing.externalized-checkpoint-retention", "RETAIN"),
        ("execution.checkpointing.storage", "tape"),
    ],
)
def test_names_that_are_none(make_env, collected, key, value):
    env = make_env(1, **{key.replace(".", "__"): value})
    with pytest.raises(ConfigurationError, match=f"The option {key} has an unknown value"):
        collected(env.enable_checkpointing(1000).from_collection([1]))


def test_names_in_any_case(make_env):
    env = make_env(1, execution__checkpointing__interval="1 s", execution__checkpointing__mode="at-least-once")
    assert env.get_checkpointing_mode() is CheckpointingMode.AT_LEAST_ONCE


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("parallelism.default", "0", "Parallelism must be at least one"),
        ("pipeline.max-parallelism", "-3", "maxParallelism is out of bounds"),
    ],
)
def test_bounds_hold_for_configurations_too(make_env, env, key, value, message):
    with pytest.raises(InvalidProgramError, match=message):
        make_env(1, **{key.replace(".", "__"): value})
    with pytest.raises(InvalidProgramError, match=message):
        env.configure(Configuration().set_string(key, value))
