"""The sinks on a real Spark, where tasks run in other processes than the driver."""

from __future__ import annotations

from collections import Counter

import pytest
from sink_kit import FailsOnce, environment, numbers

pytestmark = pytest.mark.spark

LAST = 3000


def test_each_record_arrives_once(spark, outer, tmp_path):
    settings = {"headrace.executor": "spark", "execution.checkpointing.interval": "100 ms"}
    env = environment(tmp_path, **settings, **{"headrace.epoch.max-records": "300"})
    outer.attach(numbers(env, LAST).map(FailsOnce(tmp_path, 2500)))
    env.execute()
    assert not (tmp_path / "armed").exists(), "it has failed"
    assert outer.arrived() == Counter(range(1, LAST + 1))
    assert not outer.leftovers()
