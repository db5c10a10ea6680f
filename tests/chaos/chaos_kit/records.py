"""The input: three id-stamped sources, each a pure function of a seed. Used by the job and by the oracle; no headrace here.

Keys are skewed and belong to one split of one source; `seq` counts within a key. One record in twenty is late by far.
Event time rises with the index, out of order by less than `DISORDER`.
"""

from __future__ import annotations

import random
import zlib
from functools import lru_cache
from typing import NamedTuple

SPLITS = (2, 1, 1)
"""The number of splits of each source."""
KEYS = 6
DISORDER = 60
STEP = 20
"""A watermark follows each of so many records of a split."""
_FIRST, _LATE = 10_000, 2_000


class Record(NamedTuple):
    source: int
    split: int
    index: int
    key: int
    seq: int
    time: int
    late: bool
    payload: str
    check: int

    @property
    def id(self) -> str:
        return f"{self.source}.{self.split}.{self.index}"


@lru_cache(maxsize=64)
def split_records(seed: int, source: int, split: int, count: int) -> tuple[Record, ...]:
    """All records of a split in the order in which it is read."""
    chance = random.Random(f"{seed}/{source}/{split}")
    seqs: dict[int, int] = {}
    records = []
    for index in range(count):
        key = split * KEYS + int(KEYS * chance.random() ** 3)
        seqs[key] = seqs.get(key, 0) + 1
        late = chance.random() < 0.05
        time = _FIRST + (index + chance.randrange(5)) * 10 + index % 10 - (_LATE if late else 0)
        payload = f"{chance.getrandbits(64):016x}"
        records.append(Record(source, split, index, key, seqs[key], time, late, payload, zlib.crc32(payload.encode())))
    return tuple(records)


@lru_cache(maxsize=64)
def watermarks(seed: int, source: int, split: int, count: int) -> dict[int, int]:
    """Position -> the watermark that is there when so many records have been read."""
    highest, marks = 0, {}
    for record in split_records(seed, source, split, count):
        highest = max(highest, 0 if record.late else record.time)
        if (record.index + 1) % STEP == 0 and highest:
            marks[record.index + 1] = highest - DISORDER
    return marks
