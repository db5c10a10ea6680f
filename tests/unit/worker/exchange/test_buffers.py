"""Buffers of an edge: runs are cut at watermarks, frames at their size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.common.errors import TypeMismatchError
from headrace.common.typeinfo import Types
from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.types.codecs import codec_for
from headrace.worker.exchange.buffers import FRAME_RECORDS, RUN_RECORDS, TargetBuffer
from headrace.worker.exchange.frames import END, IDLE, RECORDS, WATERMARK, Header, decode_timestamps, unpack

ANY = codec_for(None)


def buffer_for(send, *, attempt=7, codec=ANY, key_codec=None):
    buffer = TargetBuffer((2, 5), edge=1, upstream=3, codec=codec, key_codec=key_codec)
    buffer.begin_epoch(attempt, send)
    return buffer


def items_of(sent):
    """All items in order, timestamps decoded."""
    items = []
    for _, payload in sent.unpacked:
        for item in payload:
            items.append((*item[:2], decode_timestamps(item[2]), item[3]) if item[0] == RECORDS else item)
    return items


def test_what_is_added_between_marks_is_one_run(sent):
    buffer = buffer_for(sent)
    buffer.add([1, 2], None, None)
    buffer.add([3], None, None)
    buffer.mark((WATERMARK, 10))
    buffer.add([4], None, None)
    buffer.mark((IDLE, True))
    buffer.mark((END,))
    buffer.flush()
    assert items_of(sent) == [
        (RECORDS, [1, 2, 3], None, None), (WATERMARK, 10), (RECORDS, [4], None, None), (IDLE, True), (END,),
    ]  # fmt: skip


def test_frames_are_addressed_and_numbered(sent):
    buffer = buffer_for(sent)
    for _ in range(2):
        buffer.add([0] * RUN_RECORDS * (FRAME_RECORDS // RUN_RECORDS), None, None)
    buffer.add([1], None, None)
    buffer.flush()
    assert [(level, partition) for level, partition, _ in sent.addressed] == [(2, 5)] * 3
    assert [header for header, _ in sent.unpacked] == [Header(0, 2, 5, 1, 3, n, 7) for n in range(3)]


def test_numbers_start_anew_with_an_epoch(sent):
    buffer = buffer_for(sent)
    buffer.add([1], None, None)
    buffer.flush()
    buffer.begin_epoch(8, sent)
    buffer.add([2], None, None)
    buffer.flush()
    assert [(h.sequence, h.attempt) for h, _ in sent.unpacked] == [(0, 7), (0, 8)]


def test_what_a_failed_epoch_left_is_forgotten(sent):
    buffer = buffer_for(sent)
    buffer.add(["lost"], [1], ["k"])
    buffer.mark((WATERMARK, 5))
    buffer.begin_epoch(8, sent)
    buffer.add(["kept"], None, None)
    buffer.flush()
    assert items_of(sent) == [(RECORDS, ["kept"], None, None)]


def test_nothing_is_sent_where_there_is_nothing(sent):
    buffer_for(sent).flush()
    assert sent.frames == []


def test_of_watermarks_in_a_row_the_last_one_counts(sent):
    buffer = buffer_for(sent)
    for mark in (1, 2, 3):
        buffer.mark((WATERMARK, mark))
    buffer.mark((IDLE, True))
    buffer.mark((WATERMARK, 4))
    buffer.flush()
    assert items_of(sent) == [(WATERMARK, 3), (IDLE, True), (WATERMARK, 4)]


def test_the_last_watermark_before_the_end_of_event_time_is_kept(sent):
    buffer = buffer_for(sent)
    for mark in (1, 2, MAX_WATERMARK):
        buffer.mark((WATERMARK, mark))
    buffer.flush()
    assert items_of(sent) == [(WATERMARK, 2), (WATERMARK, MAX_WATERMARK)]


def test_timestamps_and_keys_travel_along(sent):
    buffer = buffer_for(sent)
    buffer.add(["a"], [1], ["x"])
    buffer.add(["b", "c"], [None, 3], ["y", "z"])
    buffer.flush()
    assert items_of(sent) == [(RECORDS, ["a", "b", "c"], [1, None, 3], ["x", "y", "z"])]


def test_records_with_and_without_timestamps_are_different_runs(sent):
    buffer = buffer_for(sent)
    buffer.add(["a"], None, None)
    buffer.add(["b"], [2], None)
    buffer.add(["c"], None, None)
    buffer.flush()
    assert items_of(sent) == [
        (RECORDS, ["a"], None, None), (RECORDS, ["b"], [2], None), (RECORDS, ["c"], None, None),
    ]  # fmt: skip


def test_the_lists_that_are_given_stay_as_they_are(sent):
    buffer = buffer_for(sent)
    values, timestamps, keys = ["a"], [1], ["x"]
    buffer.add(values, timestamps, keys)
    buffer.add(["b"], [2], ["y"])
    buffer.flush()
    assert (values, timestamps, keys) == (["a"], [1], ["x"])


def test_values_and_keys_take_their_types(sent):
    buffer = buffer_for(sent, codec=codec_for(Types.DOUBLE()), key_codec=codec_for(Types.STRING()))
    buffer.add([1, 2.5], None, ["a", "b"])
    buffer.flush()
    (run,) = unpack(sent.frames[0])[1]
    assert codec_for(Types.DOUBLE()).decode(run[1]) == [1.0, 2.5]
    assert codec_for(Types.STRING()).decode(run[3]) == ["a", "b"]


def test_a_value_of_the_wrong_type_is_found_when_the_run_is_closed(sent):
    buffer = buffer_for(sent, codec=codec_for(Types.LONG()))
    buffer.add(["one"], None, None)
    with pytest.raises(TypeMismatchError):
        buffer.mark((WATERMARK, 1))


def sizes(sent):
    return [sum(len(item[1]) for item in payload if item[0] == RECORDS) for _, payload in sent.unpacked]


def test_small_batches_are_cut_into_frames_of_one_size(sent):
    buffer = buffer_for(sent)
    for _ in range(10 * FRAME_RECORDS // 1000):
        buffer.add([0] * 1000, None, None)
    buffer.flush()
    assert all(FRAME_RECORDS <= size < FRAME_RECORDS + RUN_RECORDS + 1000 for size in sizes(sent)[:-1])
    assert sum(sizes(sent)) == 10 * FRAME_RECORDS // 1000 * 1000


def test_frames_are_cut_also_where_watermarks_keep_the_runs_short(sent):
    buffer = buffer_for(sent)
    for mark in range(100):
        buffer.add([mark] * 1000, None, None)
        buffer.mark((WATERMARK, mark))
    buffer.flush()
    assert sum(sizes(sent)) == 100_000
    assert max(sizes(sent)) <= FRAME_RECORDS + RUN_RECORDS
    assert [item[1] for item in items_of(sent) if item[0] == WATERMARK] == list(range(100))


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(1, 3000), st.booleans()),
        st.tuples(st.just("mark"), st.integers(0, 100), st.none()),
    ),
    max_size=40,
)


@given(STEPS)
def test_nothing_is_lost_or_moved_past_a_watermark(steps):
    frames = []
    buffer = buffer_for(lambda level, partition, frame: frames.append(frame))
    expected, number = [], 0
    for what, amount, stamped in steps:
        if what == "add":
            values = list(range(number, number + amount))
            number += amount
            buffer.add(values, values if stamped else None, None)
            expected += [("record", v, v if stamped else None) for v in values]
        else:
            buffer.mark((WATERMARK, amount))
            if expected and expected[-1][0] == "mark":
                expected.pop()
            expected.append(("mark", amount))
    buffer.flush()
    seen = []
    for frame in frames:
        for item in unpack(frame)[1]:
            if item[0] == WATERMARK:
                if seen and seen[-1][0] == "mark":  # two in a row only where a frame ends between them
                    seen.pop()
                seen.append(("mark", item[1]))
            else:
                stamps = decode_timestamps(item[2]) or [None] * len(item[1])
                seen += [("record", v, t) for v, t in zip(item[1], stamps)]
    assert seen == expected
