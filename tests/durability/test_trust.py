"""Untrusted bytes in every layout that a restore accepts: nothing in them may run. The canary is a file that code would make.

An attacker with another key writes real checkpoints and savepoints whose state, source positions or staged elements run
code when they are unpickled; then the bytes are reshaped, relocated, stripped of their signatures and signed again.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import pickle
import shutil
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from durability_kit import KEYS, expected_remembered, numbers, remembered
from test_savepoints import collect_until, resumed, slow, start

from headrace.checkpoint.errors import UntrustedStateError
from headrace.checkpoint.model import Manifest
from headrace.checkpoint.record_format import decode_manifest, encode, split, with_signature
from headrace.checkpoint.savepoints import find_origin
from headrace.checkpoint.signatures import signed_record
from headrace.cli.app import app
from headrace.common import Types
from headrace.common.errors import StateError
from headrace.connectors.files.parts import BulkPart, PartName
from headrace.datastream import KeyedProcessFunction
from headrace.datastream.state import ValueStateDescriptor
from headrace.state.safe_pickle import packed
from headrace.state_processor import SavepointReader, savepoint_diff

OLD = Path(__file__).parents[1] / "data" / "state_version_1.zip"


class Canary:
    def __init__(self, place: Path) -> None:
        self._place = str(place)

    def __reduce__(self):
        return os.makedirs, (self._place, 0o700, True)


class Poisonous(KeyedProcessFunction):
    def __init__(self, place: Path | None) -> None:
        self._place = place

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        if self._place is not None:
            self.count.update(Canary(self._place))
        yield value


def program(env, place=None):
    stream = numbers(env, 1000, parallelism=1).map(slow, Types.LONG()).uid("slow").set_parallelism(1)
    return stream.key_by(lambda v: v % KEYS).process(Poisonous(place)).uid("remembering")


@pytest.fixture
def attack(make_env, tmp_path, monkeypatch):
    """A savepoint and a checkpoint folder that an attacker has written with a key of its own, and the place of the canary."""
    place = tmp_path / "canary"
    with monkeypatch.context() as of_attacker:
        of_attacker.setenv("HEADRACE_STATE_KEY_FILE", str(tmp_path / "attacker.key"))
        env = make_env(
            headrace__job__id="attack",
            execution__checkpointing__externalized_checkpoint_retention="RETAIN_ON_CANCELLATION",
        )
        results, rows, thread = start(program(env, place))
        collect_until((results, rows), 150)
        savepoint = Path(results._job.trigger_savepoint(str(tmp_path / "savepoints")))
        results._job.cancel()
        thread.join(20)
    (checkpoints,) = (tmp_path / "checkpoints").iterdir()
    shutil.rmtree(place, ignore_errors=True)  # the attacker's own job may have read its state
    return savepoint, checkpoints, place


def reshaped(savepoint: Path, target: Path, signature: bytes = b"") -> Path:
    """The savepoint laid out as a checkpoint folder."""
    (target / "slots").mkdir(parents=True)
    (target / "state").mkdir()
    for file in savepoint.iterdir():
        if file.name == "_metadata":
            manifest = decode_manifest("_metadata", file.read_bytes())
            data = with_signature(file.read_bytes(), signature) if signature else file.read_bytes()
            (target / "slots" / f"{manifest.epoch:010d}").write_bytes(data)
        elif file.name != "_signature":
            shutil.copy(file, target / "state" / file.name)
    return target


def as_savepoint(checkpoints: Path, target: Path) -> Path:
    """The newest checkpoint laid out as a savepoint."""
    target.mkdir()
    slot = max(checkpoints.glob("slots/*"))
    (target / "_metadata").write_bytes(slot.read_bytes())
    for file in (checkpoints / "state").iterdir():
        shutil.copy(file, target / file.name)
    return target


def unsigned_record(data: bytes) -> bytes:
    line = split(data)[0]
    return line + hashlib.sha256(line).hexdigest().encode() + b"\n"


def layouts(savepoint: Path, checkpoints: Path, work: Path) -> dict[str, Path]:
    """The same hostile bytes in every shape."""
    slot = max(checkpoints.glob("slots/*"))
    manifest = decode_manifest("slot", slot.read_bytes())
    bare = {}
    for name, change in {
        "stripped": unsigned_record,
        "zero-signed": lambda data: with_signature(data, b"0" * 64),
        "signed-with-guess": lambda data: signed_record(data, b"guess" * 8),
    }.items():
        bare[name] = work / name
        shutil.copytree(checkpoints, bare[name])
        target = bare[name] / "slots" / slot.name
        target.write_bytes(change(target.read_bytes()))
    unsigned = work / "unsigned-savepoint"
    shutil.copytree(savepoint, unsigned)
    (unsigned / "_signature").unlink()
    forged = work / "forged-savepoint"
    shutil.copytree(savepoint, forged)
    listed = {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in forged.iterdir() if f.name != "_signature"}
    code = hmac.new(b"guess" * 8, json.dumps(listed, sort_keys=True).encode(), hashlib.sha256).hexdigest()
    (forged / "_signature").write_text(json.dumps({"files": listed, "hmac": code}))
    return {
        "savepoint": savepoint,
        "metadata-file": savepoint / "_metadata",
        "checkpoints": checkpoints,
        "one-checkpoint": checkpoints / f"chk-{manifest.epoch}",
        "savepoint-as-checkpoint": reshaped(savepoint, work / "reshaped"),
        "savepoint-as-signed-checkpoint": reshaped(savepoint, work / "reshaped2", b"0" * 64),
        "checkpoint-as-savepoint": as_savepoint(checkpoints, work / "as-savepoint"),
        "unsigned-savepoint": unsigned,
        "forged-savepoint": forged,
        **bare,
    }


def test_no_layout_of_hostile_state_runs_code(make_env, tmp_path, attack):
    """F46, for the start of a job, the state processor, the diff and the command line."""
    savepoint, checkpoints, place = attack
    work = tmp_path / "work"
    work.mkdir()
    tried = 0
    for name, path in layouts(savepoint, checkpoints, work).items():
        env = make_env(execution__state_recovery__path=str(path))
        with pytest.raises(UntrustedStateError, match="headrace.state.trust"):
            list(program(env).execute_and_collect())
        with pytest.raises(UntrustedStateError):
            SavepointReader.read(str(path))
        with pytest.raises(UntrustedStateError):
            savepoint_diff(str(path), program(make_env()))
        for command in (["ls", str(path)], ["scan", str(path), "remembering", "count"]):
            answer = CliRunner().invoke(app, ["state", *command])
            assert isinstance(answer.exception, UntrustedStateError), (name, command, answer.output)
        assert not place.exists(), name
        tried += 1
    assert tried == 12


def test_hostile_state_does_run_with_trust(make_env, attack):
    """The canary works: what the tests above refuse would have run."""
    savepoint, _, place = attack
    env = make_env(execution__state_recovery__path=str(savepoint), headrace__state__trust="true")
    list(program(env).execute_and_collect())
    assert place.exists()


def test_a_job_does_not_take_over_checkpoints_of_somebody_else(make_env, tmp_path, attack):
    """The folder of a named job is known before the job starts: somebody may have filled it."""
    _, checkpoints, place = attack
    for claim in (
        {},
        {"execution__state_recovery__path": str(checkpoints), "execution__state_recovery__claim_mode": "CLAIM"},
    ):
        with pytest.raises(UntrustedStateError, match="another key"):
            list(program(make_env(headrace__job__id="attack", **claim)).execute_and_collect())
        assert not place.exists()


def own_checkpoints(make_env, tmp_path):
    env = make_env(
        headrace__job__id="mine",
        execution__checkpointing__externalized_checkpoint_retention="RETAIN_ON_CANCELLATION",
    )
    results, rows, thread = start(remembered(env, 1000, slow))
    collect_until((results, rows), 150)
    results._job.cancel()
    thread.join(20)
    (root,) = (tmp_path / "checkpoints").iterdir()
    return rows, root


def test_a_state_file_that_fits_the_old_checksum_is_refused(make_env, tmp_path):
    """A CRC-32 can be made to fit; the manifest's SHA-256 cannot."""
    _, root = own_checkpoints(make_env, tmp_path)
    place = tmp_path / "canary"
    for file in (root / "state").iterdir():
        data = file.read_bytes()
        start_of_pickle = data.index(b"\x80\x05")
        poison = pickle.dumps(Canary(place), protocol=5)
        file.write_bytes(data[:start_of_pickle] + poison + data[start_of_pickle + len(poison) :])
    for settings in ({"execution__state_recovery__path": str(root)}, {"headrace__job__id": "mine"}):
        with pytest.raises(Exception, match="cannot be used|checksum|STATE_FILE_DAMAGED|damaged"):
            list(remembered(make_env(**settings), 1000).execute_and_collect())
    assert not place.exists()


def test_positions_and_staged_output_of_a_changed_manifest_are_not_read(make_env, tmp_path):
    """A manifest holds pickles of its own: where sources stand, and what sinks have staged."""
    _, root = own_checkpoints(make_env, tmp_path)
    place = tmp_path / "canary"
    slot = max(root.glob("slots/*"))
    _, signature = split(slot.read_bytes())
    manifest = decode_manifest("slot", slot.read_bytes())
    hostile = packed((1, Canary(place)))
    positions = {
        v: [{**p, "position": hostile, "payload": hostile} for p in ps] for v, ps in manifest.positions.items()
    }
    changed = Manifest(**{**vars(manifest), "positions": positions})
    for data in (encode(changed), with_signature(encode(changed), signature)):
        slot.write_bytes(data)
        for settings in ({"execution__state_recovery__path": str(root)}, {"headrace__job__id": "mine"}):
            with pytest.raises(UntrustedStateError):
                list(remembered(make_env(**settings), 1000).execute_and_collect())
        assert not place.exists()


def test_own_checkpoints_are_restored_without_a_word_wherever_they_are(make_env, tmp_path):
    rows, root = own_checkpoints(make_env, tmp_path)
    moved = tmp_path / "elsewhere"
    shutil.copytree(root, moved)
    for settings in ({"execution__state_recovery__path": str(moved)}, {"headrace__job__id": "mine"}):
        after = list(remembered(make_env(**settings), 1000).execute_and_collect())
        assert sorted(set(rows) | set(after)) == expected_remembered(1000)
        assert len(rows) + len(after) == 1000


class _Collecting:
    """A bulk format that runs nothing."""

    def create(self, file):
        return self

    def add_element(self, value):
        pass

    def flush(self):
        pass

    def finish(self):
        pass


def test_elements_of_an_unfinished_part_file_that_were_replaced_are_not_read(tmp_path):
    (tmp_path / "log").mkdir()
    part = BulkPart(PartName(str(tmp_path), "part"), 0, _Collecting(), str(tmp_path / "log"))
    part.add([1, 2, 3], None)
    state = part.state("h1", False)
    again = BulkPart(PartName(str(tmp_path), "again"), 0, _Collecting(), str(tmp_path / "log"), state)
    assert again.state("h2", False) == state
    (segment,) = (tmp_path / "log").iterdir()
    assert segment.stat().st_mode & 0o777 == 0o600
    segment.write_bytes(pickle.dumps([[Canary(tmp_path / "canary")]]))
    with pytest.raises(StateError, match="not those that this job has written"):
        BulkPart(PartName(str(tmp_path), "third"), 0, _Collecting(), str(tmp_path / "log"), state)
    segment.chmod(0o666)
    with pytest.raises(StateError, match="not those that this job has written"):
        old = {"segments": [str(segment)]}
        BulkPart(PartName(str(tmp_path), "fourth"), 0, _Collecting(), str(tmp_path / "log"), old)
    assert not (tmp_path / "canary").exists()


# -- what earlier versions have written -------------------------------------------------------------------------------


@pytest.fixture
def old_state(tmp_path, monkeypatch, make_env):
    """A checkpoint folder of the job "legacy" and a savepoint as version 1 of the formats wrote them, and their key."""
    with zipfile.ZipFile(OLD) as packed_files:
        packed_files.extractall(tmp_path)
    (tmp_path / "state.key").chmod(0o600)
    (checkpoints,) = (tmp_path / "checkpoints").iterdir()
    (savepoint,) = (tmp_path / "savepoints").iterdir()
    return savepoint, checkpoints


def assert_goes_on(rows):
    """The rows go on from the state, for every key, up to the end."""
    expected = expected_remembered(1000)
    for key in range(KEYS):
        own = sorted(row for row in rows if row[0] == key)
        assert own == [row for row in expected if row[0] == key][-len(own) :] and own[0][1] > 10


def test_a_signed_savepoint_of_version_1_is_restored(make_env, old_state):
    savepoint, _ = old_state
    assert_goes_on(resumed(make_env, str(savepoint)))


def test_checkpoints_of_version_1_need_trust_once(make_env, old_state, tmp_path):
    _, checkpoints = old_state
    for settings in ({"execution__state_recovery__path": str(checkpoints)}, {"headrace__job__id": "legacy"}):
        with pytest.raises(UntrustedStateError, match="no signature") as refused:
            list(remembered(make_env(**settings), 1000).execute_and_collect())
        assert "checkpoints of versions before signatures need this once" in str(refused.value)
    env = make_env(
        headrace__job__id="legacy",
        headrace__state__trust="true",
        execution__checkpointing__externalized_checkpoint_retention="RETAIN_ON_CANCELLATION",
    )
    results, rows, thread = start(remembered(env, 1000, slow))
    collect_until((results, rows), 150)
    results._job.cancel()
    thread.join(20)
    manifest = find_origin(str(checkpoints)).manifest
    assert all(file.checksum >> 32 for file in manifest.files), "old files were written again"
    rows += list(remembered(make_env(headrace__job__id="legacy"), 1000).execute_and_collect())
    assert_goes_on(rows)


def test_a_signed_manifest_that_lists_weak_sums_is_not_trusted(make_env, old_state, tmp_path):
    """It cannot come from a job; but nothing may rest on that."""
    _, checkpoints = old_state
    slot = max(checkpoints.glob("slots/*"))
    slot.write_bytes(signed_record(slot.read_bytes(), (tmp_path / "state.key").read_bytes()))
    with pytest.raises(UntrustedStateError, match="does not cover its state files"):
        find_origin(str(checkpoints))
