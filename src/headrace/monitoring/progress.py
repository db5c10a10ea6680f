"""Shows the progress of a running job: `last_epoch` as a dict, and a live line on a terminal.

`last_epoch` has the fields of Structured Streaming's progress where they mean the same:

    id, name              of the job
    timestamp             when the epoch ended, ISO 8601, UTC
    epochId               counts from 1; an epoch that was retried counts once
    numInputRows          records that the sources read in the epoch
    totalInputRows        the same since the job began
    inputRowsPerSecond    records read per second since the epoch before it began
    processedRowsPerSecond   records read per second of the epoch itself
    durationMs            {"epoch": from the order to the last acknowledgement}
    watermark             event time of the job in milliseconds: the lowest of the last operators that are not idle; None at the
                          beginning and at the end of bounded input
    watermarkLagMs        how far that is behind the clock
    nextEpochLimit        records that a source subtask may read in the next epoch
    vertices              a dict for every subtask of every vertex: vertex, name, subtask, recordsIn, recordsOut, busyMs,
                          watermark
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK, MIN_TIMESTAMP
from headrace.graph.job_graph import JobGraph
from headrace.types.time import utc_text
from headrace.worker.messages import VertexReport

_QUIET_SECONDS = 2.0
_REFRESHES_PER_SECOND = 4


def epoch_facts(
    graph: JobGraph,
    reports: list[VertexReport],
    *,
    job_id: str,
    epoch: int,
    read: int,
    read_before: int,
    seconds: float,
    since_last: float,
    watermark: int,
    now: int,
    next_limit: int,
) -> dict[str, Any]:
    """Return `last_epoch`: the sources read `read` records in `seconds`, `since_last` seconds after the epoch before began."""
    known = known_time(watermark)
    return {
        "id": job_id,
        "name": graph.name,
        "timestamp": timestamp(),
        "epochId": epoch,
        "numInputRows": read,
        "totalInputRows": read_before + read,
        "inputRowsPerSecond": read / since_last if since_last else 0.0,
        "processedRowsPerSecond": read / seconds if seconds else 0.0,
        "durationMs": {"epoch": round(seconds * 1000)},
        "watermark": known,
        "watermarkLagMs": None if known is None else now - known,
        "nextEpochLimit": next_limit,
        "vertices": describe_vertices(reports, {v.id: v.name for v in graph.vertices.values()}),
    }


def describe_vertices(reports: list[VertexReport], names: dict[str, str]) -> list[dict[str, Any]]:
    """Return the entry `vertices` of `last_epoch`."""
    return [
        {
            "vertex": report.vertex,
            "name": names[report.vertex],
            "subtask": report.subtask,
            "recordsIn": report.records_in,
            "recordsOut": report.records_out,
            "busyMs": round(report.busy_seconds * 1000),
            "watermark": known_time(report.watermark),
        }
        for report in sorted(reports, key=lambda r: (r.vertex, r.subtask))
    ]


def known_time(watermark: int) -> int | None:
    """Return the watermark; None for the initial and the final one.

    >>> known_time(5), known_time(MIN_TIMESTAMP)
    (5, None)
    """
    return watermark if MIN_TIMESTAMP < watermark < MAX_WATERMARK else None


def timestamp() -> str:
    """Return the current time in the format of `last_epoch`."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class ProgressView:
    """The live line; `mode` is auto (only where standard error is a terminal), always or never.

    It appears after the job has run for two seconds, and is hidden while output is written and at the end.
    """

    def __init__(self, job_name: str, mode: str) -> None:
        self._job_name = job_name
        self._wanted = mode == "always" or (mode == "auto" and sys.stderr.isatty())
        self._latest: dict[str, Any] | None = None
        self._began = time.monotonic()
        self._live: Any = None
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def start(self) -> None:
        """Start the clock of the job."""
        self._began = time.monotonic()
        if self._wanted:
            self._timer = threading.Timer(_QUIET_SECONDS, self._appear)
            self._timer.daemon = True
            self._timer.start()

    def show(self, progress: dict[str, Any]) -> None:
        """Show the progress of the epoch that has ended."""
        self._latest = progress

    @contextlib.contextmanager
    def hidden(self) -> Iterator[None]:
        """Hide the line while something else is written to the terminal."""
        with self._lock:
            live, self._live = self._live, None
            if live is not None:
                live.stop()
            yield
            if live is not None and self._wanted:
                self._live = self._started()

    def close(self) -> None:
        """Hide the line for good."""
        with self._lock:
            self._wanted = False
            if self._timer is not None:
                self._timer.cancel()
            if self._live is not None:
                self._live.stop()
                self._live = None

    def _appear(self) -> None:
        with self._lock:
            if self._wanted:
                self._live = self._started()

    def _started(self) -> Any:
        from rich.console import Console
        from rich.live import Live

        # Output must not be redirected through the console: it may go to a file while the line goes to the terminal.
        live = Live(
            console=Console(stderr=True),
            transient=True,
            refresh_per_second=_REFRESHES_PER_SECOND,
            redirect_stdout=False,
            redirect_stderr=False,
            get_renderable=lambda: line(self._job_name, self._latest, time.monotonic() - self._began),
        )
        live.start()
        return live


def line(job_name: str, progress: dict[str, Any] | None, seconds: float) -> str:
    """Return the text of the live line.

    >>> line("job", None, 3.2)
    'job  3 s  first epoch'
    >>> line("job", {"epochId": 3, "processedRowsPerSecond": 1234.5, "totalInputRows": 10, "watermark": None}, 65)
    'job  65 s  epoch 3  1,234 records/s  10 in all  watermark -'
    """
    begin = f"{job_name}  {seconds:.0f} s"
    if progress is None:
        return f"{begin}  first epoch"
    rate, total = progress["processedRowsPerSecond"], progress["totalInputRows"]
    text = f"{begin}  epoch {progress['epochId']}  {rate:,.0f} records/s  {total:,} in all"
    mark = progress.get("watermark")
    if mark is None:
        return f"{text}  watermark -"
    lag = (progress.get("watermarkLagMs") or 0) / 1000
    return f"{text}  watermark {utc_text(mark)}  lag {lag:,.1f} s"
