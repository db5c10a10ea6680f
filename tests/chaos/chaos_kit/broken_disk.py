"""A disk that is full or fails for a while: the n-th call of one kind, and some after it, raise."""

from __future__ import annotations

import builtins
import errno
import io
import os
from pathlib import Path
from typing import Any

from chaos_kit.once import nth_times


class BrokenDisk:
    """Put into a process at its start. `text` is "call:first:times:error", counted over all lives of a trial.

    Only files of the job below `root` are concerned: those of checkpoints, of state, and of the sink.
    """

    def __init__(self, text: str, root: Path) -> None:
        call, first, times, error = text.split(":")
        self._call, self._harm = call, f"disk-{call}:{first}:{times}"
        self._error = getattr(errno, error)
        self._root = root

    def install(self) -> None:
        """Replaces the call in this process."""
        if self._call == "open":
            real = io.open

            def opening(file: Any, mode: str = "r", *rest: Any, **more: Any) -> Any:
                if "w" in mode or "x" in mode:
                    self._fail(file)
                return real(file, mode, *rest, **more)

            io.open = builtins.open = opening  # type: ignore[assignment]
            return
        name = self._call
        call: Any = getattr(os, name)

        def failing(target: Any, *rest: Any, **more: Any) -> Any:
            self._fail(target)
            return call(target, *rest, **more)

        setattr(os, name, failing)

    def _fail(self, target: Any) -> None:
        where = os.readlink(f"/proc/self/fd/{target}") if isinstance(target, int) else os.fspath(target)
        concerned = where.startswith((str(self._root / "checkpoints"), str(self._root / "out")))
        if concerned and nth_times(self._root, self._harm, self._harm.partition(":")[0]):
            raise OSError(self._error, os.strerror(self._error), where)
