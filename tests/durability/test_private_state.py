"""What other users of the machine can do with a job's state: nothing, whatever the umask (F47)."""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from pathlib import Path

import pytest
from durability_kit import expected_remembered, remembered
from test_savepoints import collect_until, slow, start

from headrace.common.errors import ConfigurationError
from headrace.state_processor import SavepointReader, SavepointWriter


@pytest.fixture(params=[0o000, 0o002, 0o022], ids=["umask000", "umask002", "umask022"])
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    """All modes below a folder that are open to others, by path."""
    found = {}
    for path in [folder, *folder.rglob("*")]:
        try:
            mode = stat.S_IMODE(path.lstat().st_mode)
        except FileNotFoundError:  # the running job has just removed it
            continue
        if mode & 0o077:
            found[str(path.relative_to(folder))] = oct(mode)
    return found


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_checkpoints_and_savepoints_are_closed_to_others(make_env, shared_folder, umask, backend):
    places = {name: shared_folder / name for name in ("checkpoints", "savepoints", "state", "disk")}
    env = make_env(
        execution__checkpointing__dir=places["checkpoints"],
        execution__checkpointing__savepoint_dir=places["savepoints"],
        headrace__state__directory=places["state"],
        state__backend__rocksdb__localdir=places["disk"],
        state__backend__type=backend,
        execution__checkpointing__externalized_checkpoint_retention="RETAIN_ON_CANCELLATION",
    )
    results, rows, thread = start(remembered(env, 1000, slow))
    collect_until((results, rows), 100)
    savepoint = results._job.trigger_savepoint(None)
    while_running = {name: modes(place) for name, place in places.items() if place.exists()}
    results._job.cancel()
    thread.join(30)
    written = SavepointWriter.from_existing(SavepointReader.read(savepoint)).write(
        str(places["savepoints"] / "changed")
    )
    assert len(list(Path(written).iterdir())) > 2
    assert not any(while_running.values()), while_running
    assert not any(found := [modes(place) for place in places.values() if place.exists()]), found


def test_another_user_cannot_read_or_replace_anything_of_a_running_job(make_env, shared_folder, other_user, umask):
    env = make_env(
        execution__checkpointing__dir=shared_folder / "checkpoints",
        execution__checkpointing__savepoint_dir=shared_folder / "savepoints",
        state__backend__rocksdb__localdir=shared_folder,
        state__backend__type="rocksdb",
    )
    results, rows, thread = start(remembered(env, 600, slow))
    collect_until((results, rows), 100)
    savepoint = results._job.trigger_savepoint(None)
    targets = [
        next((shared_folder / "checkpoints").iterdir()),
        Path(savepoint),
        shared_folder / f"headrace-{os.getuid()}-state",
    ]
    for target in targets:
        assert target.is_dir()
        for attempt in ("ls {0}", "touch {0}/x", "mv {0} {0}.stolen", "rm -r {0}", "ln -s /tmp {0}/y"):
            assert other_user(attempt.format(target)).returncode != 0, attempt.format(target)
    assert other_user(f"find {shared_folder} -type f -readable").stdout == ""
    assert other_user(f"find {shared_folder} -mindepth 1 -writable").stdout == ""
    thread.join(60)
    assert sorted(rows) == expected_remembered(600)


@pytest.mark.parametrize("place", ["localdir", "temporary"])
def test_a_state_folder_that_another_user_made_first_is_refused_at_once(
    make_env, shared_folder, other_user, monkeypatch, place
):
    """It is neither used nor waited for: its maker holds a lock on it."""
    taken = shared_folder / f"headrace-{os.getuid()}-state"
    assert other_user(f"mkdir -m 0777 {taken}").returncode == 0
    settings = {"state__backend__type": "rocksdb"}
    if place == "localdir":
        settings["state__backend__rocksdb__localdir"] = str(shared_folder)
    else:
        monkeypatch.setattr(tempfile, "tempdir", str(shared_folder))
    descriptor = os.open(taken, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with pytest.raises(ConfigurationError, match="owner 65534 and mode 0777"):
            list(remembered(make_env(**settings), 100).execute_and_collect())
    finally:
        os.close(descriptor)
    assert list(taken.iterdir()) == []
