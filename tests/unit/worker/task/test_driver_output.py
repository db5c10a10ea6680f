"""Output for the driver: in order, in frames of bounded size."""

from __future__ import annotations

from headrace.worker.exchange.frames import DRIVER_OUTPUT, Header
from headrace.worker.task.driver_output import DriverOutputBuffer


def test_output_keeps_its_order(sent):
    output = DriverOutputBuffer()
    output.begin_epoch((1, 2), 9, sent)
    output.print_lines(["a", "b"], stderr=False)
    output.print_lines(["c"], stderr=True)
    output.collect("id", [1, 2])
    output.flush()
    ((header, message),) = sent.unpacked
    assert header == Header(DRIVER_OUTPUT, 1, 2, 1, 2, 0, 9)
    assert message.printed == [(False, ["a", "b"]), (True, ["c"])]
    assert message.collected == [("id", [1, 2])]


def test_nothing_is_sent_where_there_is_nothing(sent):
    output = DriverOutputBuffer()
    output.begin_epoch((0, 0), 1, sent)
    output.flush()
    assert sent.frames == []


def test_much_output_is_cut_into_numbered_frames(sent):
    output = DriverOutputBuffer()
    output.begin_epoch((0, 0), 1, sent)
    for number in range(50):
        output.collect("id", [number] * 1000)
    output.flush()
    assert [header.sequence for header, _ in sent.unpacked] == list(range(len(sent.frames)))
    assert len(sent.frames) > 1
    collected = [v for _, message in sent.unpacked for _, values in message.collected for v in values]
    assert collected == [number for number in range(50) for _ in range(1000)]


def test_an_epoch_starts_with_nothing_of_the_last_one(sent):
    output = DriverOutputBuffer()
    output.begin_epoch((0, 0), 1, sent)
    output.print_lines(["lost"], stderr=False)
    output.begin_epoch((0, 0), 2, sent)
    output.print_lines(["kept"], stderr=False)
    output.flush()
    ((header, message),) = sent.unpacked
    assert (header.attempt, message.printed) == (2, [(False, ["kept"])])
