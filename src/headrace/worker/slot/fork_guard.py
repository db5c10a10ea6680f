"""Reject `os.fork()` in functions of the program: the child would be a second copy of the subtask, with its sockets and files.

The child would return from the function, process the remaining records, and write state and output under the same names.
Python's `subprocess` does not call `os.fork()`. `multiprocessing` may fork: its children run their target and exit.
Installed once per process that runs tasks. In slot processes this happens before user code is loaded, and in `posix` too, so
that `from os import fork` imports the guarded function. Calls from outside an operator are not affected.
"""

from __future__ import annotations

import os
import posix
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from headrace.errors import InvalidProgramError

_GUARDED = ("fork", "forkpty")
_OPERATORS = "headrace.operators."
_ALLOWED = "multiprocessing."


def guard_fork(pickled_too: bool = False) -> None:
    """Replace `fork` and `forkpty` in this process, once.

    Pickled functions refer to them by their module `posix`. With `pickled_too` they are replaced there as well: only in
    processes that load functions but never pickle any, because Python refuses to pickle a replaced name.
    """
    for name in _GUARDED:
        original = getattr(os, name, None)
        if original is not None and not hasattr(original, "headrace_guard"):
            guarded = _guarded(name, original)
            setattr(os, name, guarded)
            if pickled_too:
                setattr(posix, name, guarded)


def _guarded(name: str, original: Callable[[], Any]) -> Callable[[], Any]:
    def fork() -> Any:
        caller = sys._getframe(1)  # noqa: SLF001 - there is no public way
        if not _module(caller).startswith(_ALLOWED) and _in_operator(caller):
            raise InvalidProgramError(
                f"os.{name}() was called in a function of the program",
                seen="the child would continue as a second copy of the subtask",
                remedy="use subprocess, or multiprocessing, whose children never return into the function",
            )
        return original()

    fork.headrace_guard = True  # type: ignore[attr-defined]
    return fork


def _in_operator(frame: FrameType | None) -> bool:
    while frame is not None:
        if _module(frame).startswith(_OPERATORS):
            return True
        frame = frame.f_back
    return False


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))
