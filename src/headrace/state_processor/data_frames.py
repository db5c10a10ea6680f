"""Read a keyed state as a Spark DataFrame. All use of PySpark is in `headrace.spark`."""

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
from headrace.state_processor.keyed_layout import KeyedLayout
from headrace.state_processor.reader import TABLES, OperatorInfo, SavepointReader, open_windows

_SAMPLE = 100


def state_data_frame(spark: Any, reader: SavepointReader, uid: str, name: str, schema: Any) -> Any:
    """Implement `SavepointReader.to_data_frame`."""
    from headrace.spark.dataframes import frame_of_rows

    operator, layout = reader.operator(uid), reader.keyed_layout(uid, name)
    windowed = layout.per_window or name in TABLES
    columns = ["key", "window_start", "window_end", "value"] if windowed else ["key", "value"]
    readers: list[Callable[[], Iterator[Any]]] = [
        partial(_fetched_rows, reader.origin.directory, chain, operator, name, layout)
        for chain in reader.chains(operator.id)
    ]
    sample: list[Any] = []
    if schema is None:
        sample = list(islice((row for read in readers for row in read()), _SAMPLE))
        if not sample:
            raise StateError(
                f"The state {name!r} is empty, so the types of its columns are unknown",
                operator_name=operator.name,
                uid=operator.uid,
                remedy='pass a schema, such as schema="key string, value long".',
            )
    return frame_of_rows(spark, readers, columns, sample, schema)


def _fetched_rows(
    url: str, chain: Chain, operator: OperatorInfo, name: str, layout: KeyedLayout
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a chain. Runs in Spark's workers, which fetch files that are not on a local file system."""
    if storage.local_path(url) is not None:
        yield from _rows(chain, operator, name, layout)
        return
    with tempfile.TemporaryDirectory(prefix="headrace-savepoint-") as directory:
        for file in chain.files:
            storage.fetch(url, file.name, directory)
        yield from _rows(replace(chain, directory=directory), operator, name, layout)


def _rows(chain: Chain, operator: OperatorInfo, name: str, layout: KeyedLayout) -> Iterator[tuple[Any, ...]]:
    if name in TABLES:
        yield from map(_flat, open_windows(chain, operator))
        return
    for _, entries in chain.groups(operator.id, name):
        rows: Iterable[tuple[Any, ...]] = layout.rows(entries)
        yield from map(_flat, rows) if layout.per_window else rows


def _flat(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the row with its window as two columns, which are None for a window without times."""
    key, window, value = row
    return key, getattr(window, "start", None), getattr(window, "end", None), value
