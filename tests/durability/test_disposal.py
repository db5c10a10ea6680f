"""Removing savepoints: only what is completely recognised goes, only its own files, and nothing that a running job needs."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest
from durability_kit import expected_remembered, remembered
from test_savepoints import collect_until, resumed, slow, start, stopped

from headrace.checkpoint.disposal import discard_checkpoints, discard_savepoint
from headrace.common.errors import ConfigurationError


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_savepoint_goes_by_its_folder_its_metadata_or_its_url(make_env):
    _, path = stopped(make_env)
    for form in ("{}", "{}/", "{}/_metadata", "file://{}"):
        copy = f"{path}-copy"
        shutil.copytree(path, copy)
        discard_savepoint(form.format(copy))
        assert not Path(copy).exists()
    assert Path(path).exists()


def test_a_removal_that_was_interrupted_can_be_repeated(make_env):
    _, path = stopped(make_env)
    for file in [file for file in Path(path).iterdir() if file.name != "_metadata"][::2]:
        file.unlink()
    discard_savepoint(path)
    assert not Path(path).exists()


def test_a_data_set_with_a_file_of_the_same_name_stays(tmp_path):
    """Parquet data sets have a `_metadata`, too."""
    data = tmp_path / "data"
    data.mkdir()
    for content in (b"PAR1 not a savepoint", b"", b"{}", b"x" * 200):
        (data / "_metadata").write_bytes(content)
        (data / "part-0.parquet").write_bytes(b"precious")
        before = files_below(data)
        for path in (data, data / "_metadata"):
            with pytest.raises(ConfigurationError, match="no savepoint to delete"):
                discard_savepoint(str(path))
        assert files_below(data) == before
    with pytest.raises(ConfigurationError, match="no savepoint to delete"):
        discard_savepoint(str(tmp_path))


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_one_thing_that_is_not_of_the_savepoint_keeps_all_of_it(make_env, tmp_path, kind):
    _, path = stopped(make_env)
    extra = Path(path, "notes.txt")
    if kind == "file":
        extra.write_text("precious")
    elif kind == "folder":
        extra.mkdir()
    else:  # in the place of one of its own files
        extra = next(file for file in Path(path).iterdir() if file.suffix == ".delta")
        precious = tmp_path / "precious"
        precious.write_bytes(extra.read_bytes())
        extra.unlink()
        extra.symlink_to(precious)
    before = files_below(Path(path))
    with pytest.raises(ConfigurationError, match=f"nothing was deleted[\\s\\S]*{extra.name}"):
        discard_savepoint(path)
    assert files_below(Path(path)) == before
    link = tmp_path / "link"
    link.symlink_to(path)
    with pytest.raises(ConfigurationError):
        discard_savepoint(str(link))


def test_a_manifest_that_names_files_elsewhere_removes_none_of_them(make_env, tmp_path):
    _, path = stopped(make_env)
    (tmp_path / "precious").write_text("precious")
    metadata = Path(path, "_metadata")
    data = metadata.read_bytes()
    name = next(file.name for file in Path(path).iterdir() if file.suffix == ".delta")
    line = data.splitlines(keepends=True)[0].replace(name.encode(), b"../../precious")
    metadata.write_bytes(line + hashlib.sha256(line).hexdigest().encode() + b"\n")
    with pytest.raises(ConfigurationError):
        discard_savepoint(path)
    Path(path, name).unlink()
    with pytest.raises(ConfigurationError):
        discard_savepoint(path)
    assert (tmp_path / "precious").exists()


def test_checkpoints_of_a_running_job_stay(make_env, tmp_path):
    env = make_env()
    results, rows, thread = start(remembered(env, 1000, slow))
    collect_until((results, rows), 100)
    (root,) = (tmp_path / "checkpoints").iterdir()
    number = max(int(slot.name) for slot in (root / "slots").iterdir())
    for path in (f"{root}/chk-{number}", f"{root}/chk-3", str(root)):
        with pytest.raises(ConfigurationError, match="checkpoint of a job"):
            discard_savepoint(path)
    with pytest.raises(ConfigurationError, match="a running job needs it"):
        discard_checkpoints(str(root))
    thread.join(60)
    assert sorted(rows) == expected_remembered(1000)


def test_a_savepoint_that_a_job_may_go_back_to_stays(make_env):
    """Until its first own checkpoint, be it that of a savepoint: the job keeps the files of it, not the savepoint."""
    before, path = stopped(make_env)
    env = make_env(interval=None, execution__state_recovery__path=path)
    results, rows, thread = start(remembered(env, 1000, slow))
    collect_until((results, rows), 50)
    with pytest.raises(ConfigurationError, match="a running job needs it"):
        discard_savepoint(path)
    newer = results._job.trigger_savepoint(None)
    discard_savepoint(newer)
    discard_savepoint(path)
    thread.join(60)
    assert sorted(before + rows) == expected_remembered(1000)


def test_a_job_with_checkpoints_needs_its_savepoint_no_longer(make_env):
    before, path = stopped(make_env)
    env = make_env(execution__state_recovery__path=path)
    results, rows, thread = start(remembered(env, 1000, slow))
    collect_until((results, rows), 300)  # what was collected is behind a checkpoint
    discard_savepoint(path)
    thread.join(60)
    assert sorted(before + rows) == expected_remembered(1000)


def left_checkpoints(make_env, tmp_path):
    env = make_env(execution__checkpointing__externalized_checkpoint_retention="RETAIN_ON_CANCELLATION")
    results, rows, thread = start(remembered(env, 1000, slow))
    collect_until((results, rows), 150)
    results._job.cancel()
    thread.join(20)
    (root,) = (tmp_path / "checkpoints").iterdir()
    return rows, root


def test_claimed_checkpoints_of_a_job_that_is_over_go_whole(make_env, tmp_path):
    rows, root = left_checkpoints(make_env, tmp_path)
    after = resumed(make_env, str(root), execution__state_recovery__claim_mode="CLAIM")
    assert sorted(rows + after) == expected_remembered(1000)
    assert not root.exists()


def test_claimed_checkpoints_stay_if_one_of_several_was_claimed_or_something_else_is_there(make_env, tmp_path):
    rows, root = left_checkpoints(make_env, tmp_path)
    number = max(int(slot.name) for slot in (root / "slots").iterdir())
    before = files_below(root)
    after = resumed(make_env, f"{root}/chk-{number}", execution__state_recovery__claim_mode="CLAIM")
    assert sorted(rows + after) == expected_remembered(1000)
    (root / "state" / "notes.txt").write_text("precious")
    resumed(make_env, str(root), execution__state_recovery__claim_mode="CLAIM")
    assert files_below(root) == before | {"state/notes.txt": b"precious"}
