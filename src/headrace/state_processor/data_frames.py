"""A keyed state as a Spark DataFrame. What is Spark's is behind `headrace.spark`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from headrace.errors import StateError
from headrace.state import storage
from headrace.state_processor.chains import Chain
from headrace.state_processor.forms import StateForm
from headrace.state_processor.reader import SavepointReader
from headrace.state_processor.records import OperatorInfo
from headrace.state_processor.windows import TABLES, open_windows

__all__ = ["state_data_frame"]

_SAMPLE = 100


def state_data_frame(spark: Any, reader: SavepointReader, uid: str, name: str, schema: Any) -> Any:
    """See `SavepointReader.to_data_frame`."""
    from headrace.spark.dataframes import frame_of_rows

    operator, form = reader.operator(uid), reader.form(uid, name)
    windowed = form.per_window or name in TABLES
    columns = ["key", "window_start", "window_end", "value"] if windowed else ["key", "value"]
    readers: list[Callable[[], Iterator[Any]]] = [
        partial(_fetched_rows, reader.origin.directory, chain, operator, name, form)
        for chain in reader.chains(operator.id)
    ]
    sample: list[Any] = []
    if schema is None:
        sample = list(islice((row for read in readers for row in read()), _SAMPLE))
        if not sample:
            raise StateError(
                f"The state {name!r} is empty: the types of its columns are unknown",
                operator_name=operator.name,
                uid=operator.uid,
                remedy='give a schema, as schema="key string, value long".',
            )
    return frame_of_rows(spark, readers, columns, sample, schema)


def _fetched_rows(
    url: str, chain: Chain, operator: OperatorInfo, name: str, form: StateForm
) -> Iterator[tuple[Any, ...]]:
    """Runs in Spark's workers: these fetch what is not on a file system."""
    if storage.local_path(url) is not None:
        yield from _rows(chain, operator, name, form)
        return
    with tempfile.TemporaryDirectory(prefix="headrace-savepoint-") as directory:
        for file in chain.files:
            storage.fetch(url, file.name, directory)
        yield from _rows(replace(chain, directory=directory), operator, name, form)


def _rows(chain: Chain, operator: OperatorInfo, name: str, form: StateForm) -> Iterator[tuple[Any, ...]]:
    if name in TABLES:
        yield from map(_flat, open_windows(chain, operator))
        return
    for _, entries in chain.groups(operator.id, name):
        rows: Iterable[tuple[Any, ...]] = form.rows(entries)
        yield from map(_flat, rows) if form.per_window else rows


def _flat(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A window as two columns; a window without times has None there."""
    key, window, value = row
    return key, getattr(window, "start", None), getattr(window, "end", None), value
