"""Frames: bytes there and back."""

from __future__ import annotations

import pickle
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.runtime.task.frames import (
    ACK,
    DATA,
    DRIVER_OUTPUT,
    END,
    FAILURE,
    RECORDS,
    WATERMARK,
    Header,
    decode_timestamps,
    encode_timestamps,
    header_of,
    pack,
    unpack,
)

U32 = st.integers(0, 2**32 - 1)
HEADERS = st.builds(
    Header, st.sampled_from([DATA, ACK, DRIVER_OUTPUT, FAILURE]), st.integers(0, 2**16 - 1), U32, U32, U32, U32,
    st.integers(0, 2**64 - 1),
)  # fmt: skip
PAYLOADS = st.recursive(st.none() | st.integers() | st.text() | st.binary(), st.lists, max_leaves=10)


@given(HEADERS, PAYLOADS)
def test_a_frame_comes_back_as_it_was(header, payload):
    assert unpack(pack(header, payload)) == (header, payload)


def test_the_header_is_read_without_the_payload():
    frame = pack(Header(DATA, 3, 7, 1, 2, 9, 11), ["payload"])
    cut = frame[: len(frame) - 4]
    assert header_of(cut) == Header(DATA, 3, 7, 1, 2, 9, 11)
    with pytest.raises((pickle.UnpicklingError, EOFError)):
        unpack(cut)


def test_items_keep_their_order():
    items = [(RECORDS, ["a"], None, None), (WATERMARK, 5), (RECORDS, ["b"], None, None), (END,)]
    assert unpack(pack(Header(DATA, 0, 0, 0, 0, 0, 0), items))[1] == items


@pytest.mark.parametrize("field", ["level", "partition", "sequence", "attempt"])
def test_what_does_not_fit_into_a_header_is_an_error(field):
    with pytest.raises(struct.error):
        pack(Header(DATA, 0, 0, 0, 0, 0, 0)._replace(**{field: 2**64}), [])


@given(st.none() | st.lists(st.integers(-(2**63), 2**63 - 1) | st.none()))
def test_timestamps_come_back_as_they_were(timestamps):
    assert decode_timestamps(encode_timestamps(timestamps)) == timestamps


def test_complete_timestamps_travel_as_eight_bytes_each():
    assert encode_timestamps([1, 2, 3]) == b"".join(n.to_bytes(8, "little") for n in (1, 2, 3))


def test_decoded_timestamps_are_plain_ints():
    assert [type(t) for t in decode_timestamps(encode_timestamps([1, 2]))] == [int, int]
