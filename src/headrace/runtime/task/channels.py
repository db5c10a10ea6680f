"""The input side of a vertex: the watermark valve over all channels, and the deterministic merge of their items.

A channel is (edge, upstream subtask). The merge always goes on with the channel whose watermark is lowest (the first of
them, if equal), until that channel's watermark has risen: one of the orders that Flink may show, and with one channel
exactly Flink's. The valve's watermark is the minimum over the channels that are not idle.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headrace.common.watermark_strategy import MIN_TIMESTAMP
from headrace.runtime.task.frames import CLOCK, END, IDLE, RECORDS, WATERMARK

Channel = tuple[int, int]
Item = tuple[Any, ...]


class Valve:
    """Event time of a vertex's input. Survives epochs: `snapshot` / `restore`.

    >>> valve = Valve([(0, 0), (0, 1)])
    >>> valve.watermark((0, 0), 5), valve.watermark((0, 1), 3)
    (None, 3)
    """

    def __init__(self, channels: list[Channel]) -> None:
        self.marks = dict.fromkeys(channels, MIN_TIMESTAMP)
        self.idle: set[Channel] = set()
        self.ended: set[Channel] = set()
        self.current = MIN_TIMESTAMP
        self.all_idle = False

    def watermark(self, channel: Channel, timestamp: int) -> int | None:
        """A channel's watermark has risen; gives the vertex's new watermark if that rises too."""
        self.idle.discard(channel)
        if timestamp > self.marks[channel]:
            self.marks[channel] = timestamp
        return self._risen()

    def set_idle(self, channel: Channel, idle: bool) -> int | None:
        """A channel became idle or active; gives the vertex's new watermark if that lets it rise."""
        if idle:
            self.idle.add(channel)
        else:
            self.idle.discard(channel)
        return self._risen()

    def end(self, channel: Channel) -> bool:
        """A channel has ended; says whether all have."""
        self.ended.add(channel)
        return len(self.ended) == len(self.marks)

    def _risen(self) -> int | None:
        active = [mark for channel, mark in self.marks.items() if channel not in self.idle]
        self.all_idle = not active
        lowest = min(active) if active else max(self.marks.values())
        if lowest > self.current:
            self.current = lowest
            return lowest
        return None

    def snapshot(self) -> dict[str, Any]:
        """What a successor needs."""
        return {
            "marks": dict(self.marks),
            "idle": set(self.idle),
            "ended": set(self.ended),
            "current": self.current,
            "all_idle": self.all_idle,
        }

    def restore(self, facts: dict[str, Any]) -> None:
        """Takes over from `snapshot`; channels that are gone are forgotten, new ones start where the vertex is."""
        self.current, self.all_idle = facts["current"], facts["all_idle"]
        for channel in self.marks:
            self.marks[channel] = facts["marks"].get(channel, self.current)
        self.idle = {c for c in facts["idle"] if c in self.marks}
        self.ended = {c for c in facts["ended"] if c in self.marks}


def merged(valve: Valve, inputs: dict[Channel, Iterator[Item]]) -> Iterator[tuple[Channel, Item]]:
    """All items of all channels in the order of the merge.

    The caller applies watermark items to the valve while it iterates; the choice of the next channel looks there.
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


__all__ = ["CLOCK", "END", "IDLE", "RECORDS", "WATERMARK", "Channel", "Item", "Valve", "merged"]
