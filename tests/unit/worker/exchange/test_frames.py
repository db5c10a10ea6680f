"""Frames: bytes there and back."""

from __future__ import annotations

import pickle
import struct
import subprocess
import sys
import threading
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.common.errors import TypeMismatchError
from headrace.worker.exchange.frames import (
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


# -- classes without a name ---------------------------------------------------------------------------------------

NOWHERE = Header(DATA, 0, 0, 0, 0, 0, 0)


def class_without_a_name():
    """A class that no other process can import, as those of a script are for the slots."""

    @dataclass
    class Reading:
        name: str

        def shouted(self):
            return self.name.upper()

    return Reading


def test_objects_of_classes_that_cannot_be_imported_travel_by_value():
    reading_class = class_without_a_name()
    (reading,) = unpack(pack(NOWHERE, [reading_class("a")]))[1]
    assert reading.shouted() == "A"
    assert type(reading) is reading_class, "a process that has the class gets no copy of it"


def test_other_processes_can_read_them(tmp_path):
    frame = tmp_path / "frame"
    frame.write_bytes(pack(NOWHERE, [class_without_a_name()("a")]))
    read = (
        "import sys; from headrace.worker.exchange.frames import unpack\n"
        "print(unpack(open(sys.argv[1], 'rb').read())[1][0].shouted())"
    )
    done = subprocess.run([sys.executable, "-c", read, str(frame)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("A\n", "")


@pytest.mark.parametrize("value", [threading.Lock(), (i for i in range(3))], ids=["lock", "generator"])
def test_what_cannot_be_sent_at_all_is_explained(value):
    with pytest.raises(TypeMismatchError, match="cannot be sent to another process: cannot pickle") as caught:
        pack(NOWHERE, [value])
    assert "open()" in caught.value.remedy


def test_importing_frames_is_cheap():
    """Every Python worker of Spark pays for it."""
    read = "import sys; import headrace.worker.exchange.frames; print('cloudpickle' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", read], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
