"""Values in manifests come back as they were, types included."""

from __future__ import annotations

import enum
import json
import math
from pathlib import PurePosixPath

import pytest

from headrace.state.safe_pickle import packed, unpacked


class Size(enum.IntEnum):
    SMALL = 1


VALUES = [
    None, True, 0, 1.5, "é", [1, [2]], {"a": {"b": [None]}}, (1, 2), [(1,)], {1: "a"}, b"x", {3},
    Size.SMALL, [Size.SMALL], PurePosixPath("/a"), float("inf"), [float("-inf")], 10**30,
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_round_trip(value):
    back = unpacked(json.loads(json.dumps(packed(value), allow_nan=False)))
    assert back == value
    assert type(back) is type(value)
    if isinstance(value, list) and value:
        assert type(back[0]) is type(value[0])


def test_not_a_number():
    assert math.isnan(unpacked(json.loads(json.dumps(packed(math.nan), allow_nan=False))))


def test_json_stays_readable():
    assert packed({"file": "part-1"}) == {"json": {"file": "part-1"}}
