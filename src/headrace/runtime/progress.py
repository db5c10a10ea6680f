"""The live line of a long run on a terminal: epoch, records per second, watermark, lag. Quiet where nobody looks."""

from __future__ import annotations

import sys
from datetime import datetime, timezone
from typing import Any

_QUIET_SECONDS = 2.0


class ProgressView:
    """Shows `last_epoch` dicts; `mode` is auto (only on a terminal), always or never."""

    def __init__(self, job_name: str, mode: str) -> None:
        self._job_name = job_name
        self._live: Any = None
        self._wanted = mode == "always" or (mode == "auto" and sys.stderr.isatty())
        self._first: datetime | None = None

    def show(self, progress: dict[str, Any]) -> None:
        """Replaces the line, once the job has run for a little while."""
        if not self._wanted:
            return
        now = datetime.now(timezone.utc)
        self._first = self._first or now
        if self._live is None:
            if (now - self._first).total_seconds() < _QUIET_SECONDS:
                return
            self._live = _start_live()
        self._live.update(line(self._job_name, progress), refresh=True)

    def close(self) -> None:
        """Takes the line away."""
        if self._live is not None:
            self._live.stop()
            self._live = None


def line(job_name: str, progress: dict[str, Any]) -> str:
    """The text of the live line.

    >>> line("job", {"epochId": 3, "inputRowsPerSecond": 1234.5, "totalInputRows": 10, "watermark": None})
    'job  epoch 3  1,234 records/s  10 in all  watermark -'
    """
    rate, total = progress["inputRowsPerSecond"], progress["totalInputRows"]
    text = f"{job_name}  epoch {progress['epochId']}  {rate:,.0f} records/s  {total:,} in all"
    mark = progress.get("watermark")
    if mark is None:
        return f"{text}  watermark -"
    lag = (progress.get("watermarkLagMs") or 0) / 1000
    try:
        shown = datetime.fromtimestamp(mark / 1000, timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, OSError, ValueError):
        shown = str(mark)
    return f"{text}  watermark {shown}  lag {lag:,.1f} s"


def _start_live() -> Any:
    from rich.console import Console
    from rich.live import Live

    live = Live("", console=Console(stderr=True), transient=True, auto_refresh=False)
    live.start()
    return live
