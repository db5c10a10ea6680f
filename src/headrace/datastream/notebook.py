"""The live table of a job that `execute_async` shows in a Jupyter notebook.

Decides whether this process is the kernel of a notebook, and the contents of the table. A separate thread updates it, so
the cell finishes at once. Does not import IPython: outside a notebook, nothing happens.
"""

from __future__ import annotations

import html
import importlib
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

from headrace.common.job_client import JobHandle
from headrace.types.time import utc_text

_REFRESH_SECONDS = 1.0


def show_live(job: JobHandle, name: str) -> None:
    """Show a table of the job below the cell, if this process is the kernel of a notebook.

    >>> show_live(None, "nothing is shown in a plain Python")
    """
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return
    shows: Any = importlib.import_module("IPython.display")
    began = time.monotonic()

    def now() -> Any:
        return shows.HTML(live_table(name, job.status().name, job.last_epoch, time.monotonic() - began))

    shown = shows.display(now(), display_id=True)

    def follow() -> None:
        while not job.status().is_terminal_state():
            time.sleep(_REFRESH_SECONDS)
            shown.update(now())
        shown.update(now())

    threading.Thread(target=follow, name="headrace-notebook", daemon=True).start()


def live_table(name: str, status: str, epoch: Mapping[str, Any], seconds: float) -> str:
    """Return the table as HTML, with the names of the program escaped.

    >>> epoch = {
    ...     "totalInputRows": 1200,
    ...     "processedRowsPerSecond": 400.0,
    ...     "watermark": None,
    ...     "epochId": 3,
    ...     "vertices": [
    ...         {"name": "Map", "subtask": 0, "recordsIn": 10, "recordsOut": 9, "busyMs": 5, "watermark": None}
    ...     ],
    ... }
    >>> text = live_table("a <job>", "RUNNING", epoch, 3.2)
    >>> "a &lt;job&gt;" in text, "1,200 records" in text, "<td>Map</td>" in text
    (True, True, True)
    """
    head = f"<b>{html.escape(name)}</b>&ensp;{html.escape(status)}&ensp;{seconds:.0f} s"
    if not epoch:
        return f"<div>{head}&ensp;first epoch</div>"
    rate, total = epoch["processedRowsPerSecond"], epoch["totalInputRows"]
    head += f"&ensp;epoch {epoch['epochId']}&ensp;{total:,} records&ensp;{rate:,.0f} records/s"
    head += f"&ensp;watermark {_time(epoch['watermark'])}"
    rows = "".join(_row(name, subtasks) for name, subtasks in _by_vertex(epoch["vertices"]).items())
    columns = "".join(f"<th>{title}</th>" for title in ("task", "subtasks", "in", "out", "busiest", "watermark"))
    return f"<div>{head}</div><table><tr>{columns}</tr>{rows}</table>"


def _by_vertex(entries: list[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for entry in entries:
        found.setdefault(str(entry["name"]), []).append(entry)
    return found


def _row(name: str, subtasks: list[Mapping[str, Any]]) -> str:
    marks = [subtask["watermark"] for subtask in subtasks]
    cells = (
        html.escape(name),
        str(len(subtasks)),
        f"{sum(subtask['recordsIn'] for subtask in subtasks):,}",
        f"{sum(subtask['recordsOut'] for subtask in subtasks):,}",
        f"{max(subtask['busyMs'] for subtask in subtasks)} ms",
        "-" if None in marks else _time(min(marks)),
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _time(mark: int | None) -> str:
    return "-" if mark is None else utc_text(mark)
