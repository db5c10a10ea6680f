"""`scripts/soak` for about two minutes: the ten minutes of it are a command."""

from __future__ import annotations

from pathlib import Path

import pytest
from cluster_kit import Cluster
from soak import faults, soak

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(500)]

SECONDS = 45.0
"""From the start of the first job until no more is killed; starting and stopping all of it is the rest of two minutes."""


def test_nothing_is_lost_or_doubled_and_memory_is_flat(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    try:
        report = soak(cluster, SECONDS, seed=1)
    finally:
        for process in cluster.processes():
            process.kill()
    assert faults(report) == [], report
