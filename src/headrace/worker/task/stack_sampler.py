"""Sample the stack of the thread that runs a task's epoch, from another thread, and count stacks by operator.

Runs only while a flame graph is wanted. Limits: one sample every 10 ms, the depth of stacks, the number of distinct stacks.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from types import FrameType

from headrace.foundation.own_code import is_own
from headrace.operators.base import Operator

_INTERVAL = 0.01
_DEEPEST = 48
_MOST_STACKS = 2000
Stack = tuple[str, ...]


class StackSampler(threading.Thread):
    """Samples the thread that creates it, from `start` to `stop`."""

    def __init__(self, vertices: dict[str, list[Operator]]) -> None:
        """`vertices` maps the task's vertices to their operators."""
        super().__init__(name="headrace-sampler", daemon=True)
        self.stacks: dict[str, Counter[Stack]] = {vertex: Counter() for vertex in vertices}
        self._owners = {id(o): (vertex, o.context.name) for vertex, operators in vertices.items() for o in operators}
        self._thread_id = threading.get_ident()
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.wait(_INTERVAL):
            frame = sys._current_frames().get(self._thread_id)  # noqa: SLF001 - there is no public way
            if frame is not None:
                self._file(frame)

    def stop(self) -> None:
        self._over.set()
        self.join()

    def _file(self, innermost: FrameType) -> None:
        frames: list[FrameType] = []
        frame: FrameType | None = innermost
        while frame is not None:
            owner = self._owner(frame)
            if owner is not None:
                vertex, name = owner
                stacks = self.stacks[vertex]
                stack = (name, *_user_part(frames, frame))
                if stack in stacks or len(stacks) < _MOST_STACKS:
                    stacks[stack] += 1
                return
            frames.append(frame)
            frame = frame.f_back

    def _owner(self, frame: FrameType) -> tuple[str, str] | None:
        if "self" not in frame.f_code.co_varnames or not is_own(frame.f_code.co_filename):
            return None
        return self._owners.get(id(frame.f_locals.get("self")))


def _user_part(inside: list[FrameType], operator: FrameType) -> list[str]:
    """Return the frames of user code inside an operator's frame; if there are none, the function of headrace."""
    outer_first = list(reversed(inside))
    own = [_label(f) for f in outer_first if not is_own(f.f_code.co_filename)][:_DEEPEST]
    return own or [f"headrace: {(outer_first[-1] if outer_first else operator).f_code.co_name}"]


def _label(frame: FrameType) -> str:
    code = frame.f_code
    name = getattr(code, "co_qualname", code.co_name)  # Python 3.10 has only co_name
    return f"{name} ({os.path.basename(code.co_filename)}:{frame.f_lineno})"
