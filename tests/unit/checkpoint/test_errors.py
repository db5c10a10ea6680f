"""Errors survive the way between processes, and every reason has a text."""

import pickle

import pytest

from headrace.checkpoint.errors import (
    CheckpointError,
    CheckpointFailureReason,
    DamagedRecordError,
    FencedError,
    RestoreRefusedError,
)


@pytest.mark.parametrize(
    "error",
    [
        CheckpointError(CheckpointFailureReason.IO_EXCEPTION, seen="x"),
        FencedError(2, 3),
        RestoreRefusedError(CheckpointFailureReason.MANIFEST_DAMAGED, remedy="ask"),
        DamagedRecordError("slots/0000000001", "it is torn"),
    ],
)
def test_pickle(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert getattr(again, "reason", None) == getattr(error, "reason", None)


def test_reasons_have_texts_and_are_distinct():
    texts = [r.text for r in CheckpointFailureReason]
    assert len(set(texts)) == len(texts)
    assert all(t.endswith(".") for t in texts)
    assert not any(r.pre_flight and r.counts for r in CheckpointFailureReason)
