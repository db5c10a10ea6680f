"""Messages as parallel lists, and the format of staged files.

A file is a sequence of blocks: the length of a head (JSON: topics, counts), the head, lengths of keys and values, timestamps,
the number of each message's topic, partitions, then all keys and all values. No pickles: the driver reads these files.
"""

from __future__ import annotations

import json
import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

_NONE = -1
_LENGTH = struct.Struct("<q")


@dataclass
class Messages:
    """Messages in order; `keys`, `timestamps` and `partitions` may be missing for all, the first two also for one.

    >>> import io
    >>> file = io.BytesIO()
    >>> Messages(["t"] * 2, [b"a", None], [b"k", None], [5, None]).save(file)
    >>> file = io.BytesIO(file.getvalue())
    >>> list(Messages.load(file))
    [Messages(topics=['t', 't'], values=[b'a', None], keys=[b'k', None], timestamps=[5, None], partitions=None)]
    """

    topics: list[str]
    values: list[bytes | None]
    keys: list[bytes | None] | None = None
    timestamps: list[int | None] | None = None
    partitions: list[int] | None = None

    def save(self, file: IO[bytes]) -> None:
        """Append a block."""
        names = list(dict.fromkeys(self.topics))
        number = {name: index for index, name in enumerate(names)}
        head = json.dumps(
            {
                "topics": names,
                "count": len(self.values),
                "keys": bool(self.keys),
                "times": bool(self.timestamps),
                "partitions": bool(self.partitions),
            }
        ).encode()
        parts = [_LENGTH.pack(len(head)), head, _lengths(self.values)]
        if self.keys:
            parts.append(_lengths(self.keys))
        if self.timestamps:
            parts.append(array("q", [_NONE if t is None else t for t in self.timestamps]).tobytes())
        if len(names) > 1:
            parts.append(array("i", [number[t] for t in self.topics]).tobytes())
        if self.partitions:
            parts.append(array("i", self.partitions).tobytes())
        parts += [v for v in self.values if v]
        parts += [k for k in self.keys or () if k]
        file.writelines(parts)

    @staticmethod
    def load(file: IO[bytes]) -> Iterator[Messages]:
        """Read all blocks."""
        while start := file.read(_LENGTH.size):
            start += _exactly(file, _LENGTH.size - len(start))
            head = json.loads(_exactly(file, _LENGTH.unpack(start)[0]))
            count, names = head["count"], head["topics"]
            value_lengths = _numbers("i", file, count)
            key_lengths = _numbers("i", file, count) if head["keys"] else None
            times = _numbers("q", file, count) if head["times"] else None
            numbers = _numbers("i", file, count) if len(names) > 1 else None
            partitions = _numbers("i", file, count) if head["partitions"] else None
            values = _cut(file, value_lengths)
            yield Messages(
                [names[n] for n in numbers] if numbers is not None else names * count,
                values,
                _cut(file, key_lengths) if key_lengths is not None else None,
                [None if t == _NONE else t for t in times] if times is not None else None,
                list(partitions) if partitions is not None else None,
            )


def _lengths(parts: list[bytes | None]) -> bytes:
    return array("i", [_NONE if part is None else len(part) for part in parts]).tobytes()


def _numbers(kind: str, file: IO[bytes], count: int) -> Any:
    numbers = array(kind)
    numbers.frombytes(_exactly(file, count * numbers.itemsize))
    return numbers


def _exactly(file: IO[bytes], count: int) -> bytes:
    """Read exactly `count` bytes, also from a file system that returns less at a time; a shorter file is damaged."""
    data = file.read(count) if count else b""
    while len(data) < count:
        more = file.read(count - len(data))
        if not more:
            raise OSError(f"a staged file ends {count - len(data)} bytes too early")
        data += more
    return data


def _cut(file: IO[bytes], lengths: Any) -> list[bytes | None]:
    data = _exactly(file, sum(length for length in lengths if length > 0))
    parts: list[bytes | None] = []
    start = 0
    for length in lengths:
        parts.append(None if length < 0 else data[start : start + length])
        start += max(length, 0)
    return parts
