"""Checkpoints and savepoints on a file system that fsspec knows; here the one in memory."""

from __future__ import annotations

import hashlib
import time
import tracemalloc
import uuid
from typing import ClassVar

import pytest
from durability_kit import (
    FailsOnce,
    Remembering,
    ask_at_once,
    ask_at_start,
    expected_counts,
    expected_remembered,
    numbers,
    remembered,
)

from headrace.checkpoint.disposal import discard_claimed, discard_savepoint
from headrace.checkpoint.errors import UntrustedStateError
from headrace.common import Types
from headrace.common.errors import ConfigurationError, HeadraceError
from headrace.state import storage

fsspec = pytest.importorskip("fsspec")
local = pytest.importorskip("fsspec.implementations.local")


def slow(value):
    time.sleep(0.001)
    return value


@pytest.fixture
def url():
    place = f"memory://headrace-{uuid.uuid4().hex}"
    yield place
    system, path = fsspec.core.url_to_fs(place)
    if system.exists(path):
        system.rm(path, recursive=True)


def names(url):
    system, path = fsspec.core.url_to_fs(url)
    return sorted(system.find(path)) if system.exists(path) else []


def test_a_failed_job_goes_on_from_its_remote_checkpoint(make_env, tmp_path, url):
    env = make_env(directory=False, execution__checkpointing__dir=url)
    failing = numbers(env, 600).map(FailsOnce(tmp_path / "mark", 555), Types.LONG())
    counted = failing.map(lambda v: (v % 7, 1)).key_by(lambda t: t[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))
    assert sorted(counted.execute_and_collect()) == expected_counts(600)
    assert not (tmp_path / "mark").exists()
    assert names(url) == [], "a job that has finished leaves nothing"


def test_rescales_on_remote_checkpoints(make_env, tmp_path, url, monkeypatch):
    """What an executor has on its own disk is of no use to the others: the new subtasks read from the store."""
    settings = {"directory": False, "execution__checkpointing__dir": url}
    results = remembered(make_env(2, **settings), 900, slow).execute_and_collect()
    job = results._job
    for share, parallelisms in ((100, (3, 1)), (300, (4,))):
        while job.last_epoch.get("totalInputRows", 0) < share:
            time.sleep(0.002)
        asked = ask_at_once(job, *parallelisms)
        assert all(request.done.wait(60) for request in asked)
        assert [request.answer for request in asked] == list(parallelisms)
    path = job.stop_with_savepoint(False, f"{url}/savepoints")
    before = list(results)
    asked = ask_at_start(monkeypatch, 3, 2)
    env = make_env(2, execution__state_recovery__path=path, **settings)
    stream = numbers(env, 900, parallelism=1).map(FailsOnce(tmp_path / "mark", 850), Types.LONG()).uid("slow")
    keyed = stream.set_parallelism(1).key_by(lambda v: v % 7).process(Remembering()).uid("remembering")
    after = list(keyed.execute_and_collect())
    assert [request.answer for request in asked] == [3, 2]
    assert sorted(before + after) == expected_remembered(900)


def test_savepoints_travel(make_env, url):
    env = make_env(directory=False, execution__checkpointing__dir=url)
    results = remembered(env, 600, slow).execute_and_collect()
    while results._job.last_epoch.get("totalInputRows", 0) < 200:
        time.sleep(0.005)
    path = results._job.stop_with_savepoint(False, f"{url}/savepoints")
    before = list(results)
    assert path.startswith("memory://") and any(name.endswith("_metadata") for name in names(url))
    after = list(remembered(make_env(3, execution__state_recovery__path=path), 600).execute_and_collect())
    assert sorted(before + after) == expected_remembered(600)


def test_a_changed_remote_file_is_noticed(make_env, url):
    env = make_env(directory=False, execution__checkpointing__dir=url)
    results = remembered(env, 600, slow).execute_and_collect()
    while results._job.last_epoch.get("totalInputRows", 0) < 200:
        time.sleep(0.005)
    path = results._job.stop_with_savepoint(False, f"{url}/savepoints")
    list(results)
    system, place = fsspec.core.url_to_fs(path)
    victim = next(name for name in system.find(place) if name.endswith((".base", ".delta")))
    data = system.cat_file(victim)
    system.pipe_file(victim, data[:100] + bytes([data[100] ^ 1]) + data[101:])
    with pytest.raises(HeadraceError, match="not trusted|cannot be used"):
        remembered(make_env(2, execution__state_recovery__path=path), 600).execute_and_collect()


def left_state(make_env, url):
    """A savepoint and the checkpoints of a job that was cancelled."""
    env = make_env(
        directory=False,
        execution__checkpointing__dir=f"{url}/checkpoints",
        execution__checkpointing__externalized_checkpoint_retention="RETAIN_ON_CANCELLATION",
    )
    results = remembered(env, 600, slow).execute_and_collect()
    while results._job.last_epoch.get("totalInputRows", 0) < 200:
        time.sleep(0.005)
    savepoint = results._job.trigger_savepoint(f"{url}/savepoints")
    results._job.cancel()
    (slot, *_) = [name for name in names(url) if "/slots/" in name]
    return savepoint, "memory:/" + slot.partition("/slots/")[0]


def test_remote_checkpoints_of_somebody_else_are_refused(make_env, tmp_path, url, monkeypatch):
    savepoint, checkpoints = left_state(make_env, url)
    monkeypatch.setenv("HEADRACE_STATE_KEY_FILE", str(tmp_path / "another.key"))
    for path in (savepoint, checkpoints):
        with pytest.raises(UntrustedStateError, match="another key"):
            list(remembered(make_env(execution__state_recovery__path=path), 600).execute_and_collect())


def test_only_whole_remote_savepoints_and_checkpoints_are_removed(make_env, url):
    savepoint, checkpoints = left_state(make_env, url)
    system, _ = fsspec.core.url_to_fs(url)
    for folder, remove in ((savepoint, discard_savepoint), (checkpoints, discard_claimed)):
        extra = f"{fsspec.core.url_to_fs(folder)[1]}/precious"
        system.pipe_file(extra, b"precious")
        before = names(url)
        with pytest.raises(ConfigurationError, match="nothing was deleted"):
            remove(folder)
        assert names(url) == before
        system.rm_file(extra)
    with pytest.raises(ConfigurationError, match="checkpoint of a job"):
        discard_savepoint(checkpoints)
    discard_savepoint(savepoint)
    discard_claimed(checkpoints)
    assert names(url) == []


def test_large_files_are_copied_part_by_part(tmp_path):
    """Any number of them may be under way in a machine; `local:` is a file system of fsspec like any other."""
    here, there, back = (tmp_path / name for name in ("here", "there", "back"))
    for folder in (here, there, back):
        folder.mkdir()
    content = bytes(range(256)) * (1 << 16)
    (here / "f").write_bytes(content)
    tracemalloc.start()
    try:
        storage.upload(str(here), "f", f"local://{there}")
        storage.copy(f"local://{there}", "f", f"local://{back}")
        digest = hashlib.sha256()
        for block in storage.blocks(f"local://{back}", "f"):
            digest.update(block)
        storage.fetch(f"local://{back}", "f", str(tmp_path))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert digest.digest() == hashlib.sha256(content).digest()
    assert (tmp_path / "f").read_bytes() == content
    assert peak < len(content) / 2


class Moody(local.LocalFileSystem):
    """A store that refuses some calls, with errors that are no OSError, as HTTP clients have them."""

    protocol = "moody"
    refusals: ClassVar[dict[str, int]] = {}

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.removeprefix("moody://"))

    def _meet(self, what, path):
        if self.refusals.get(what, 0) > 0 and ("/state/" in path or "/slots/" in path):
            self.refusals[what] -= 1
            raise RuntimeError(f"no {what} now")

    def put_file(self, lpath, rpath, **options):
        self._meet("put_file", rpath)
        self.makedirs(self._parent(rpath), exist_ok=True)
        super().put_file(lpath, rpath, **options)

    def pipe_file(self, path, value, mode="overwrite", **options):
        self._meet("pipe_file", path)
        self.makedirs(self._parent(path), exist_ok=True)
        with open(self._strip_protocol(path), "xb" if mode == "create" else "wb") as file:
            file.write(value)


@pytest.mark.parametrize("refused", ["put_file", "pipe_file"])
def test_a_store_that_refuses_fails_checkpoints_and_loses_nothing(make_env, tmp_path, monkeypatch, refused):
    fsspec.register_implementation("moody", Moody, clobber=True)
    monkeypatch.setattr(Moody, "refusals", {})
    monkeypatch.setattr(storage, "_UPLOAD_PAUSES", (0.0, 0.0))
    env = make_env(
        interval="1 ms",
        directory=False,
        execution__checkpointing__dir=f"moody://{tmp_path}/store",
        execution__checkpointing__tolerable_failed_checkpoints="50",
    )
    results = remembered(env, 600, slow).execute_and_collect()
    while results._job.checkpoint_statistics()["counts"]["completed"] < 2:
        time.sleep(0.005)
    Moody.refusals[refused] = 10
    assert sorted(results) == expected_remembered(600)
    assert Moody.refusals[refused] == 0
    counts = results._job.checkpoint_statistics()["counts"]
    if refused == "put_file":
        assert counts["failed"] >= 2, "each upload was tried three times"
        assert results._job._machine.attempt == 0, "a task whose files cannot be uploaded goes on"


def test_local_copies_of_files_that_nobody_needs_are_deleted(make_env, tmp_path, url):
    """A subtask begins a new base every hundred deltas; what came before is only needed where the checkpoints are."""
    working, counts = tmp_path / "working", tmp_path / "counts"

    def look(value):
        with counts.open("a") as file:
            print(max(len(list(folder.iterdir())) for folder in working.iterdir()), file=file)
        return value

    env = make_env(
        1,
        directory=False,
        interval="1 ms",
        execution__checkpointing__dir=url,
        headrace__state__directory=str(working),
        headrace__epoch__max_records="2",
        headrace__epoch__first_records="2",
    )
    assert sorted(remembered(env, 700, look).execute_and_collect()) == expected_remembered(700)
    assert max(map(int, counts.read_text().split())) < 250, "two subtasks have at most about a hundred files each"


def test_storage_that_is_not_known_is_refused(make_env):
    env = make_env(directory=False, execution__checkpointing__dir="nosuch://x")
    with pytest.raises(HeadraceError, match="storage cannot be reached"):
        list(remembered(env, 10).execute_and_collect())
