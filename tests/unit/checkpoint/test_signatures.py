"""The user's key, and signatures of records: what a changed byte, another key or an open key file lead to."""

from __future__ import annotations

import hashlib
import os

import pytest

from headrace.checkpoint.errors import DamagedRecordError, UntrustedStateError
from headrace.checkpoint.model import FileEntry, Manifest, Marker, Seal
from headrace.checkpoint.record_format import encode, split, with_signature
from headrace.checkpoint.signatures import SignedRecords, state_key
from headrace.common.errors import ConfigurationError

MANIFEST = Manifest("job", 3, 7, "a", 6, (FileEntry("v/0", "v-0-e0000000007-g0000000003-1.delta", 120, 77),))
SLOT = "slots/0000000007"
KEY = b"k" * 32


@pytest.fixture
def key_file(tmp_path, monkeypatch):
    path = tmp_path / "conf" / "state.key"
    monkeypatch.setenv("HEADRACE_STATE_KEY_FILE", str(path))
    return path


def test_the_key_is_made_once_and_only_for_this_user(key_file):
    before = os.umask(0)
    try:
        key = state_key()
    finally:
        os.umask(before)
    assert len(key) == 32 and state_key() == key == key_file.read_bytes()
    assert [p.stat().st_mode & 0o777 for p in (key_file.parent, key_file)] == [0o700, 0o600]
    assert [p.name for p in key_file.parent.iterdir()] == ["state.key"]


def test_a_key_that_others_could_have_written_is_refused(key_file):
    state_key()
    for mode in (0o620, 0o602, 0o666):
        key_file.chmod(mode)
        with pytest.raises(ConfigurationError, match="could have been written by somebody else"):
            state_key()
    key_file.chmod(0o444)  # as a mounted secret may be
    assert len(state_key()) == 32
    key_file.chmod(0o600)
    key_file.write_bytes(b"short")
    with pytest.raises(ConfigurationError, match="too short"):
        state_key()


def test_a_key_that_cannot_be_made_says_what_to_do(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("HEADRACE_STATE_KEY_FILE", str(tmp_path / "file" / "state.key"))
    with pytest.raises(ConfigurationError, match="HEADRACE_STATE_KEY_FILE"):
        state_key()


def test_only_manifests_are_signed():
    records = SignedRecords(KEY)
    assert split(records.encode(MANIFEST))[1] is not None
    for name, record in {"markers/0000000007": Marker("job", 1, 7, "a"), SLOT: Seal("job", 1, 7, "a", None)}.items():
        assert records.encode(record) == encode(record)
        assert records.decode(name, encode(record), "job") == record


def test_a_manifest_is_damaged_or_not_trusted_but_never_used():
    records = SignedRecords(KEY)
    data = records.encode(MANIFEST)
    assert records.decode(SLOT, data, "job") == records.decode_manifest(SLOT, data) == MANIFEST
    for place in range(len(data)):
        hurt = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        for damaged in (hurt, data[:place]):
            with pytest.raises(DamagedRecordError):
                records.decode(SLOT, damaged, "job")
    other = Manifest(**{**vars(MANIFEST), "attempt": "b"})
    signature = split(data)[1]
    for forged in (
        encode(other),
        with_signature(encode(other), signature),
        with_signature(data, b""),
        encode(MANIFEST),
    ):
        with pytest.raises(UntrustedStateError, match=SLOT):
            records.decode(SLOT, forged, "job")
        assert isinstance(SignedRecords(KEY, trust=True).decode(SLOT, forged, "job"), Manifest)


def test_a_second_line_that_is_no_signature_is_refused():
    data = encode(MANIFEST)
    lines = split(data)[0] + b"more\n"
    with pytest.raises(DamagedRecordError):
        SignedRecords(KEY, trust=True).decode(SLOT, lines + hashlib.sha256(lines).hexdigest().encode() + b"\n", "job")
