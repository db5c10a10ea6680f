"""The input side of a vertex: frames by channel, the watermark valve, and the deterministic merge of all channels' items.

A channel is (edge, upstream subtask). The merge always continues with the channel whose watermark is lowest (the first
one in case of a tie) until that channel's watermark rises. This is one of the orders that Flink may produce, and with one
channel exactly Flink's. The valve follows Flink's rules for active and idle channels to the letter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headrace.common.watermark_strategy import MIN_TIMESTAMP
from headrace.types.codecs import Codec
from headrace.types.column_run import as_columns
from headrace.worker.exchange.frames import END, RECORDS, WATERMARK, decode_timestamps, header_of, unpack

Channel = tuple[int, int]
Item = tuple[Any, ...]


class _Input:
    """One of a vertex's (at most two) inputs. It has several channels if streams are united or have several subtasks."""

    def __init__(self) -> None:
        self.channels: list[Channel] = []
        self.current = MIN_TIMESTAMP
        self.idle = False


class Valve:
    """The event time of a vertex. `snapshot` and `restore` carry it over to a successor.

    1. An input's watermark is the minimum over its active channels. A channel that is behind when it becomes active again
       is ignored until it has caught up.
    2. The vertex's watermark is the minimum over its active inputs. An input that is behind when it becomes active again
       holds it back.
    3. When the last active channel (or input) becomes idle, and was not behind, the maximum over all of them counts.

    >>> valve = Valve({(0, 0): 0, (0, 1): 0})
    >>> valve.watermark((0, 0), 5), valve.watermark((0, 1), 3)
    (None, 3)
    """

    def __init__(self, channels: Mapping[Channel, int]) -> None:
        """`channels` maps each channel to the number of its input."""
        self.marks = dict.fromkeys(channels, MIN_TIMESTAMP)
        self.idle: set[Channel] = set()
        self.ended: set[Channel] = set()
        self.current = MIN_TIMESTAMP
        self.all_idle = False
        self._inputs = {number: _Input() for number in sorted(set(channels.values()))}
        self._input_of = {channel: self._inputs[number] for channel, number in channels.items()}
        for channel, one in self._input_of.items():
            one.channels.append(channel)

    def watermark(self, channel: Channel, timestamp: int) -> int | None:
        """Raise a channel's watermark. Return the vertex's new watermark if it rises too."""
        one = self._input_of[channel]
        self.idle.discard(channel)
        one.idle = False
        if timestamp > self.marks[channel]:
            self.marks[channel] = timestamp
            self._advance(one)
        return self._risen()

    def set_idle(self, channel: Channel, idle: bool) -> int | None:
        """Mark a channel as idle or active. Return the vertex's new watermark if it rises."""
        one = self._input_of[channel]
        if idle:
            self.idle.add(channel)
            if self.marks[channel] == one.current:  # otherwise it did not hold back the others
                self._advance(one)
        else:  # only its next watermark counts
            self.idle.discard(channel)
        one.idle = self.idle.issuperset(one.channels)
        return self._risen()

    def end(self, channel: Channel) -> bool:
        """Mark a channel as ended. Return whether all have ended."""
        self.ended.add(channel)
        return len(self.ended) == len(self.marks)

    def _advance(self, one: _Input) -> None:
        active = [self.marks[c] for c in one.channels if c not in self.idle]
        if active:
            one.current = min((mark for mark in active if mark >= one.current), default=one.current)
        else:
            one.current = max(self.marks[c] for c in one.channels)

    def _risen(self) -> int | None:
        active = [one.current for one in self._inputs.values() if not one.idle]
        self.all_idle = not active
        lowest = min(active) if active else max(one.current for one in self._inputs.values())
        if lowest > self.current:
            self.current = lowest
            return lowest
        return None

    def snapshot(self) -> dict[str, Any]:
        return {
            "marks": dict(self.marks),
            "idle": set(self.idle),
            "ended": set(self.ended),
            "current": self.current,
            "all_idle": self.all_idle,
            "inputs": {number: (one.current, one.idle) for number, one in self._inputs.items()},
        }

    def restore(self, facts: dict[str, Any]) -> None:
        """Take over from `snapshot`. Drop channels that no longer exist; new ones start at the vertex's watermark."""
        self.current, self.all_idle = facts["current"], facts["all_idle"]
        for channel in self.marks:
            self.marks[channel] = facts["marks"].get(channel, self.current)
        self.idle = {c for c in facts["idle"] if c in self.marks}
        self.ended = {c for c in facts["ended"] if c in self.marks}
        for number, one in self._inputs.items():
            one.current, one.idle = facts["inputs"].get(number, (self.current, False))


def merged(valve: Valve, inputs: dict[Channel, Iterator[Item]]) -> Iterator[tuple[Channel, Item]]:
    """Yield the items of all channels in merge order.

    The caller applies watermark items to the valve while it iterates; the choice of the next channel depends on that.
    """
    order = {channel: i for i, channel in enumerate(sorted(inputs))}
    left = dict(inputs)
    while left:
        channel = min(left, key=lambda c: (valve.marks[c], order[c]))
        for item in left[channel]:
            yield channel, item
            if item[0] in (WATERMARK, END) and len(left) > 1:
                break
        else:
            del left[channel]


def by_channel(frames: list[bytes]) -> tuple[dict[Channel, int], dict[Channel, list[bytes]]]:
    """Return the attempt that made each channel's frames, and the frames of each channel in sequence."""
    numbered: dict[Channel, list[tuple[int, bytes]]] = {}
    attempts: dict[Channel, int] = {}
    for frame in frames:
        header = header_of(frame)
        channel = (header.edge, header.upstream)
        numbered.setdefault(channel, []).append((header.sequence, frame))
        attempts[channel] = header.attempt
    return attempts, {c: [f for _, f in sorted(parts, key=lambda p: p[0])] for c, parts in numbered.items()}


def decoded(frames: list[bytes], codec: Codec, key_codec: Codec) -> Iterator[Item]:
    """Yield the items of a channel's frames."""
    decode, decode_keys = codec.decode, key_codec.decode
    for frame in frames:
        for item in unpack(frame)[1]:
            if item[0] == RECORDS:
                _, values, timestamps, keys = item
                if as_columns(values) is not None:
                    yield item
                    continue
                run_keys = None if keys is None else decode_keys(keys)
                yield RECORDS, decode(values), decode_timestamps(timestamps), run_keys
            else:
                yield item
