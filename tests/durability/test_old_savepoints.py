"""Savepoints and checkpoints of earlier versions: each is restored by the code of today and goes on to the exact end.

The recordings are in tests/data/savepoints, one folder for each version that made some; `old_savepoints/record.py` makes
another. Sinks and file sources of the recorded jobs have relative paths, so each recording runs in a copy, in the test's
folder. The key that signed a recording lies with it: nothing is restored on trust.
"""

from __future__ import annotations

import base64
import importlib
import json
import platform
import sys
import tarfile
from functools import reduce
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "old_savepoints"))

import recorded_kit as kit
from pickled_names import names_below, names_in
from recorded_objects import objects, shown

from headrace.state.moved_classes import current_module
from headrace.state.safe_pickle import PLAIN, load

VERSIONS = sorted(path for path in (Path(__file__).parents[1] / "data" / "savepoints").iterdir() if path.is_dir())
BY_VALUE = "local-classes"


def recordings(wanted):
    """All recordings for whose names `wanted` says yes."""
    archives = (file for version in VERSIONS for file in sorted(version.glob("*.tar.xz")))
    return [
        pytest.param(file, id=f"{file.parent.name}-{file.name.removesuffix('.tar.xz')}")
        for file in archives
        if wanted(file.name.removesuffix(".tar.xz"))
    ]


def area_and_backend(archive):
    return archive.name.removesuffix(".tar.xz").rsplit("-", 1)


def is_area(name):
    return name.rsplit("-", 1)[0] in kit.AREAS


@pytest.fixture
def unpacked(tmp_path, monkeypatch):
    """Unpack a recording into the working directory, with the key that it was signed with."""

    def unpack(archive):
        with tarfile.open(archive) as files:
            files.extractall(tmp_path, filter="data")
        key = tmp_path / "state.key"
        key.write_bytes((archive.parent / "state.key").read_bytes())
        key.chmod(0o600)
        monkeypatch.setenv("HEADRACE_STATE_KEY_FILE", str(key))
        monkeypatch.chdir(tmp_path)
        facts = json.loads(Path("expected.json").read_text())
        if archive.name.startswith(BY_VALUE) and _minor(facts["python"]) != _minor(platform.python_version()):
            pytest.skip(
                "classes that cannot be imported are saved with their code, which only one Python version reads"
            )
        return {name: kit.Counter(rows) for name, rows in facts["rows"].items()}

    return unpack


def _minor(version):
    return version.split(".")[:2]


@pytest.mark.parametrize("archive", recordings(is_area))
def test_a_savepoint_is_restored_and_goes_on(archive, unpacked):
    expected = unpacked(archive)
    area, backend = area_and_backend(archive)
    assert kit.run(area, backend, execution__state_recovery__path="savepoint") == expected


@pytest.mark.parametrize("archive", recordings(lambda name: name == kit.SINKS))
def test_what_sinks_have_begun_is_finished(archive, unpacked):
    unpacked(archive)
    before = kit.arrived()
    assert all(kit.all_numbers() > numbers for numbers in before.values())
    for name, numbers in kit.run_sinks(execution__state_recovery__path="savepoint").items():
        assert numbers == kit.all_numbers(), name


@pytest.mark.parametrize("archive", recordings(lambda name: name == kit.UNFINISHED))
@pytest.mark.parametrize("by", ["job id", "path"])
def test_commits_of_a_driver_that_was_killed_are_finished(archive, unpacked, by):
    unpacked(archive)
    assert len({sum(numbers.values()) for numbers in kit.arrived().values()}) > 1, "some have committed, others not"
    (checkpoints,) = Path("checkpoints").iterdir()
    settings = {"headrace__job__id": kit.JOB} if by == "job id" else {"execution__state_recovery__path": checkpoints}
    for name, numbers in kit.run_sinks(**settings).items():
        assert numbers == kit.all_numbers(), name


def facts(version, name):
    return json.loads((version / f"{name}.json").read_text())


def all_facts(name):
    """The entries of a list of each version."""
    return [
        pytest.param(key, value, id=f"{version.name}-{key}")
        for version in VERSIONS
        for key, value in facts(version, name).items()
    ]


@pytest.mark.parametrize(("name", "recordings"), all_facts("pickled_names"))
def test_what_old_pickles_name_is_still_found(name, recordings):
    """A class may move if its old path still leads to it: under its own name, so that it is not just something else."""
    module, _, qualified = name.partition(":")
    found = reduce(getattr, qualified.split("."), importlib.import_module(current_module(module, qualified)))
    assert getattr(found, "__qualname__", qualified) == qualified, recordings


@pytest.mark.parametrize("version", VERSIONS, ids=lambda path: path.name)
def test_the_list_of_names_is_complete(version, tmp_path):
    for archive in version.glob("*.tar.xz"):
        with tarfile.open(archive) as files:
            files.extractall(tmp_path / archive.name, filter="data")
    found = names_below(tmp_path)
    for pickled, _ in facts(version, "objects").values():
        found |= set(names_in(base64.b64decode(pickled)))
    assert found == set(facts(version, "pickled_names"))


@pytest.mark.parametrize(("name", "kept"), all_facts("objects"))
def test_objects_that_durable_files_may_hold_come_back(name, kept):
    pickled, text = kept
    found = load(PLAIN, base64.b64decode(pickled))
    assert shown(found) == text == shown(objects()[name])


@pytest.mark.parametrize(("area", "ids"), all_facts("operator_ids"))
def test_operators_without_uids_keep_their_ids(area, ids, tmp_path, monkeypatch):
    """State is filed under these ids. They come from the kinds of operators and their places, not from their modules."""
    monkeypatch.chdir(tmp_path)
    assert kit.operator_ids(area) == ids
