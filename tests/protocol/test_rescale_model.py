"""The production driver under rescale schedules: back to back, after a restore, in recovery, with failures between.

`protocol_kit.rescale_model` explains the schedules. Without `--long` a sample of them runs.
"""

from __future__ import annotations

from itertools import islice

import pytest
from protocol_kit.rescale_model import drawn, exhaustive, run

SEED = 1_000


def assert_all_pass(folder, schedules):
    bad = {}
    for number, (schedule, interval, backend) in enumerate(schedules):
        problems = run(schedule, folder / str(number), interval, backend)
        if problems:
            bad[schedule, interval, backend] = problems
    assert bad == {}


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
@pytest.mark.parametrize("interval", ["1 ms", "1 h", None])
@pytest.mark.parametrize(
    "schedule",
    [
        "R3",  # before the first epoch
        "R3.R1.R5",
        "E/E/R3.R1",  # back to back, without an epoch between them
        "E/E/K.R3",  # after a restore, before the first epoch
        "E/E/K.R3.R1/E/R2",
        "E/R3.S.R1",  # while a savepoint is taken
        "E/E/X.R3/E/R5",  # the executor cannot be started: the job goes on as it was
        "E/E/X.X.R3/E/R5",  # ... and neither with the old program: the job is restarted
        "E/Z.R3/R3",  # the checkpoint fails: the request does, the job goes on
        "E/Z.K/R3",  # the same for a stop with a savepoint
    ],
)
def test_a_schedule(memory_path, schedule, interval, backend):
    if interval is None and "X.X" in schedule:
        pytest.skip("without checkpoints a restart begins from the start, and collected rows come again")
    assert run(schedule, memory_path, interval, backend) == []


@pytest.mark.parametrize("schedule", ["E/E/F.R3.R1/R2", "E/R3.F/R1", "E/F.K/R3", "E/F.R3/F.R1/F.R2"])
@pytest.mark.parametrize("interval", ["1 ms", "1 h"])
def test_a_schedule_with_failures(memory_path, schedule, interval):
    """The requests come while an epoch runs that fails: they are answered, or served after the restart."""
    assert run(schedule, memory_path, interval) == []


@pytest.mark.parametrize(
    ("schedule", "answers"),
    [
        ("E/X.R3/E/R5", [("R3", "no executor can be had"), ("R5", "done")]),
        ("E/X.X.R3/E/R5", [("R3", "no executor can be had"), ("R5", "done")]),
        ("E/Z.R3/E/R5", [("R3", "could not be completed: full"), ("R5", "done")]),
        ("E/Z.K/E/K", [("K", "could not be completed: full"), ("K", "done")]),
        ("E/F.R99/E/R3", [("R99", "at most 16"), ("R3", "done")]),
        ("E/E/K.R3/F.K.S.R1/R2", [("K", "done"), ("R3", "done"), ("K", "the epoch failed"), ("S", "done"), ("R1", "done"), ("R2", "done")]),
        ("E/S.F.R3/E", [("S", "the epoch failed"), ("R3", "done")]),
        ("E/R3/R3.R3", [("R3", "done")] * 3),
    ],
)  # fmt: skip
def test_each_request_gets_its_answer(memory_path, schedule, answers):
    """A request that cannot be served fails with the reason, and the job goes on as it was."""
    found: list[tuple[str, str]] = []
    assert run(schedule, memory_path, "1 h", answers=found) == []
    assert [event for event, _ in found] == [event for event, _ in answers]
    for (event, wanted), (_, answer) in zip(answers, found, strict=True):
        assert wanted in answer, (event, answer)


def test_random_schedules(memory_path):
    assert_all_pass(memory_path, (drawn(SEED + n) for n in range(25)))


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_all_pairs_of_events_and_many_random_schedules(memory_path):
    pairs = [(s, interval, "hashmap") for s in exhaustive() for interval in ("1 ms", "1 h")]
    pairs += [(s, None, "hashmap") for s in exhaustive() if "F" not in s and "X" not in s]
    assert_all_pass(memory_path, pairs)
    assert_all_pass(memory_path, (drawn(SEED + n) for n in islice(range(25, 10_000), 300)))
