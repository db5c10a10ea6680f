"""A keyed state as a Spark DataFrame. What is Spark's is behind `headrace.runtime.spark`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from headrace.common.errors import StateError
from headrace.state_processor.chains import Chain
from headrace.state_processor.forms import StateForm
from headrace.state_processor.reader import SavepointReader

__all__ = ["state_data_frame"]

_SAMPLE = 100


def state_data_frame(spark: Any, reader: SavepointReader, uid: str, name: str, schema: Any) -> Any:
    """See `SavepointReader.to_data_frame`."""
    from headrace.runtime.spark.data_frames import data_frame

    operator, form = reader.operator(uid), reader.form(uid, name)
    columns = ["key", "window_start", "window_end", "value"] if form.per_window else ["key", "value"]
    sample: list[Any] = []
    if schema is None:
        sample = [_row(row) for row in islice(reader.keyed_state(uid, name), _SAMPLE)]
        if not sample:
            raise StateError(
                f"The state {name!r} is empty: the types of its columns are unknown",
                operator_name=operator.name,
                uid=operator.uid,
                remedy='give a schema, as schema="key string, value long".',
            )
    readers: list[Callable[[], Iterable[Any]]] = [
        partial(_rows, chain, operator.id, name, form) for chain in reader.chains(operator.id)
    ]
    return data_frame(spark, readers, columns, sample, schema)


def _rows(chain: Chain, operator_id: str, name: str, form: StateForm) -> Iterator[tuple[Any, ...]]:
    """Runs in Spark's workers."""
    for _, entries in chain.groups(operator_id, name):
        for row in form.rows(entries):
            yield _row(row)


def _row(row: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(row) == 2:
        return row
    key, window, value = row
    start = window if isinstance(window, int) else getattr(window, "start", None)
    return key, start, getattr(window, "end", None), value
