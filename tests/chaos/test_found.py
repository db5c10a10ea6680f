"""What crash tests have found once, each as a story of its own: processes that are killed or sleep at a named point."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from chaos_kit import workload
from chaos_kit.spark_lives import SparkNursery
from chaos_kit.verify import verify

pytestmark = pytest.mark.timeout(200)
SETTINGS = {"execution.checkpointing.interval": "10 ms"}


@pytest.fixture
def drivers(tmp_path):
    nursery = SparkNursery(tmp_path, tmp_path.name)
    yield nursery
    nursery.end_all()


@pytest.fixture
def start(drivers, tmp_path):
    """Starts a driver of the job, on the local executor; with a fault if one is given."""
    params = {"root": str(tmp_path), "seed": 7, "records": 120, "settings": SETTINGS}
    return lambda fault=None: drivers.start(params, fault)


def assert_exact(root: Path) -> None:
    report = verify(root, 7, 120, [], 1, rescaled=False)
    assert (report["lost"], report["duplicated"], report["foreign"], report["problems"]) == (0, 0, 0, [])


def names(root: Path, folder: str) -> set[str]:
    return {p.name for p in root.glob(f"checkpoints/*/{folder}/*")}


def finished(root: Path) -> bool:
    slots = [json.loads(p.read_bytes().splitlines()[0]) for p in root.glob("checkpoints/*/slots/*")]
    return any(slot["body"].get("facts", {}).get("finished") for slot in slots)


def test_a_job_that_is_started_again_goes_on_with_its_files(start, tmp_path):
    """It does not write all of its state again."""
    assert start("publish.post:3:kill").wait() == -signal.SIGKILL
    before = names(tmp_path, "state")
    assert start("publish.post:2:kill").wait() == -signal.SIGKILL
    after = names(tmp_path, "state")
    assert before & after
    assert after - before
    assert not [name for name in after if name.endswith(".base")]
    assert start().wait() == workload.FINISHED
    assert start().wait() == workload.FINISHED
    assert_exact(tmp_path)


def test_what_a_dead_driver_did_not_collect_the_next_one_does(start, tmp_path):
    """Also if the job had come to its end and there is nothing else to do."""
    while not finished(tmp_path):
        assert start("gc.pre:1:kill").wait() == -signal.SIGKILL
    assert names(tmp_path, "state")
    assert start().wait() == workload.FINISHED
    assert_exact(tmp_path)


def test_a_driver_that_was_replaced_and_then_fails_does_not_take_the_job_back(start, tmp_path):
    """A record that it is about to link is collected as a dead driver's: that is an error of the store, not yet a fence."""
    first = start("plan.torn:3:stop")
    assert first.wait_until_stopped()
    second = start("commit.ambiguous:3:stop")
    assert second.wait_until_stopped()
    for unfinished in tmp_path.glob("checkpoints/*/temporary/*"):
        unfinished.unlink()
    first.send(signal.SIGCONT)
    assert first.wait() == workload.FENCED
    second.send(signal.SIGCONT)
    assert second.wait() == workload.FINISHED
    assert start().wait() == workload.FINISHED
    assert_exact(tmp_path)


def test_a_driver_that_was_replaced_and_is_then_cancelled_leaves_the_checkpoints_of_its_successor_alone(
    start, tmp_path
):
    first = start("precommit.mid:20:stop")
    assert first.wait_until_stopped()
    second = start("publish.post:2:stop")
    assert second.wait_until_stopped()
    first.send(signal.SIGINT)
    first.send(signal.SIGCONT)
    first.wait()
    second.send(signal.SIGCONT)
    assert second.wait() == workload.FINISHED
    assert start().wait() == workload.FINISHED
    assert_exact(tmp_path)


def test_a_driver_that_refuses_a_damaged_checkpoint_leaves_its_files_alone(start, tmp_path):
    assert start("publish.post:3:kill").wait() == -signal.SIGKILL
    manifest = max(tmp_path.glob("checkpoints/*/slots/*"))
    content, files = manifest.read_bytes(), names(tmp_path, "state")
    manifest.write_bytes(content[:-10])
    assert start().wait() == workload.REFUSED
    assert names(tmp_path, "state") == files
    manifest.write_bytes(content)
    assert start().wait() == workload.FINISHED
    assert_exact(tmp_path)
