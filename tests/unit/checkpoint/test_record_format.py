"""Records: round trips, and everything that must be refused."""

import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.checkpoint import names
from headrace.checkpoint.errors import DamagedRecordError, StoreError
from headrace.checkpoint.model import Committable, FileEntry, Generation, Manifest, Marker, Plan, Seal
from headrace.checkpoint.record_format import decode, encode
from headrace.connectors.base.sink_committer import Handle

MANIFEST = Manifest(
    "job",
    3,
    7,
    "d1.4",
    6,
    (FileEntry("v/0", "v-0-e0000000007-g0000000003-1.delta", 120, 77),),
    (Committable("sink", Handle("h1", 1, 7, 3, {"path": "a/ü", "rows": [1, 2.5, None, True]})),),
    {"source/0": {"offset": 12}},
    {"source": -5},
    {"source": 2},
    {"restarts": 1},
)
RECORDS = {
    names.generation_name(3): Generation("job", 3, "d1"),
    names.plan_name(7, 3, "d1.4"): Plan("job", 3, 7, "d1.4", 6, {"v": 2}, {"s": 1}, {"s": 4}),
    names.entry_name(7): MANIFEST,
    names.entry_name(8): Seal("job", 3, 8, "d1", None),
    names.marker_name(7): Marker("job", 3, 7, "d1"),
}


def forged(data, **changes):
    """A record with other contents and a right checksum."""
    whole = json.loads(data.splitlines()[0])
    whole.update(changes)
    line = json.dumps(whole, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    return line + hashlib.sha256(line).hexdigest().encode() + b"\n"


@pytest.mark.parametrize("name", RECORDS)
def test_round_trip(name):
    assert decode(name, encode(RECORDS[name]), "job") == RECORDS[name]


@pytest.mark.parametrize("name", RECORDS)
def test_truncated_at_every_byte(name):
    data = encode(RECORDS[name])
    for length in range(len(data)):
        with pytest.raises(DamagedRecordError, match=name):
            decode(name, data[:length], "job")


@pytest.mark.parametrize("name", RECORDS)
def test_every_bit_flip(name):
    data = encode(RECORDS[name])
    for place in range(len(data)):
        for bit in range(8):
            hurt = bytearray(data)
            hurt[place] ^= 1 << bit
            with pytest.raises(DamagedRecordError):
                decode(name, bytes(hurt), "job")


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_refused(data):
    with pytest.raises(DamagedRecordError):
        decode(names.entry_name(7), data, "job")


def test_more_bytes_than_were_written():
    data = encode(MANIFEST)
    for hurt in (data + b"\n", data + data, b" " + data, bytes(len(data))):
        with pytest.raises(DamagedRecordError):
            decode(names.entry_name(7), hurt, "job")


def test_foreign_and_swapped():
    data = {name: encode(record) for name, record in RECORDS.items()}
    with pytest.raises(DamagedRecordError, match="belongs to job 'job', not 'other'"):
        decode(names.entry_name(7), data[names.entry_name(7)], "other")
    for place in data:
        for name, content in data.items():
            if name != place:
                with pytest.raises(DamagedRecordError):
                    decode(place, content, "job")
    with pytest.raises(DamagedRecordError, match="not of 6"):
        decode(names.entry_name(6), data[names.entry_name(7)], "job")


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 2},
        {"format": "other"},
        {"kind": "marker"},
        {"kind": "__class__"},
        {"epoch": "7"},
        {"epoch": True},
        {"generation": None},
        {"attempt": 5},
        {"job_id": ["job"]},
        {"body": []},
        {"body": {"files": [["a", 1, 2, 3]], "committables": []}},
        {"body": {"files": [], "committables": [[1, 2, 3, 4, 5, 6]], "parent": None}},
        {"body": {"files": [], "committables": [], "parent": "x"}},
        {"body": {"files": [], "committables": [], "parent": 1, "positions": []}},
        {"body": {"files": [], "committables": [], "parent": 1, "unknown": 1}},
        {"body": {"committables": [], "parent": 1}},
    ],
)
def test_a_right_checksum_does_not_help(changes):
    with pytest.raises(DamagedRecordError):
        decode(names.entry_name(7), forged(encode(MANIFEST), **changes), "job")


def test_nested_without_end():
    line = b"[" * 100_000 + b"\n"
    with pytest.raises(DamagedRecordError):
        decode(names.entry_name(7), line + hashlib.sha256(line).hexdigest().encode() + b"\n", "job")


@pytest.mark.parametrize("payload", [object(), {1, 2}, float("nan"), b"bytes"])
def test_what_json_cannot_carry_is_refused_when_it_is_written(payload):
    with pytest.raises(StoreError, match="cannot be written as JSON"):
        encode(Manifest("job", 1, 1, "a", None, committables=(Committable("s", Handle("h", 0, 1, 1, payload)),)))
