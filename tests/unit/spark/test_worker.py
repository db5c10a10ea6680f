"""The functions of Spark's workers: they travel as plain pickles, and frame their output for the exchange."""

from __future__ import annotations

import pickle
import struct
from dataclasses import dataclass
from functools import partial

import pytest

from headrace.spark.worker import end_job_slots, run_level


@dataclass(frozen=True)
class Level:
    """Stands in for `LevelRun`, of which `run_level` needs only this much."""

    next_partitions: int | None

    def run(self, partition, attempt, incoming):
        for frame in incoming:
            yield partition + 1, frame


@pytest.mark.parametrize(
    ("next_partitions", "expected"),
    [(3, [struct.pack("!q", 2), b"a", struct.pack("!q", 2), b"b"]), (None, [b"a", b"b"])],
)
def test_frames_have_a_target_unless_the_level_is_the_last(next_partitions, expected):
    shipped = pickle.loads(pickle.dumps(partial(run_level, Level(next_partitions)), protocol=5))
    assert list(shipped(1, [b"a", b"b"])) == expected


def test_ending_the_slots_of_a_job_that_has_none():
    shipped = pickle.loads(pickle.dumps(partial(end_job_slots, "0" * 16), protocol=5))
    assert list(shipped(0, [])) == []
