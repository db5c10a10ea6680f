"""What the operators of tables that keep state by key have in common.

Decides how a key is found for each row, and how states with an optional time to live are made. Rows are tuples; where an
edge has kinds, the last element of a row is its kind. Operators write to their tables at once, so that a snapshot at any
time is complete and both backends work alike.
"""

from __future__ import annotations

from typing import Any

from headrace.graph.table_specs import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, TableKey
from headrace.operators.base import OperatorWithLateRecords
from headrace.operators.output import Values
from headrace.state.descriptors import MapStateDescriptor, StateDescriptor, ValueStateDescriptor
from headrace.state.interfaces import MapState, ValueState
from headrace.state.keyed_backend import KeyedBackend
from headrace.state.opaque_key import filed_keys
from headrace.state.ttl import StateTtlConfig
from headrace.types.time import Time

Row = tuple[Any, ...]

AS_INSERT, AS_UPDATE_BEFORE, AS_UPDATE_AFTER, AS_DELETE = (INSERT,), (UPDATE_BEFORE,), (UPDATE_AFTER,), (DELETE,)
"""Kinds as tuples of one element, to be added to a row."""
KINDS = (AS_INSERT, AS_UPDATE_BEFORE, AS_UPDATE_AFTER, AS_DELETE)


class KeyedTableOperator(OperatorWithLateRecords):
    """An operator over rows by key."""

    grouped_in_batch = False
    """Whether batch input is handed over key by key: these operators take it as it comes, and finish at its end."""

    def keys_of(self, selector: TableKey, values: Values, keys: list[Any] | None) -> list[Any]:
        """Return the key of each row: those that came with the rows, otherwise computed."""
        return filed_keys([selector(row) for row in values]) if keys is None else keys

    def emit(self, rows: Values) -> None:
        """Pass results on. Rows of tables have no timestamps of their own."""
        self.output.emit(rows, None)

    def next_processing_timer(self) -> int | None:
        return self.context.processing_timers.next_timestamp()


def map_state(backend: KeyedBackend, name: str, ttl: int = 0) -> MapState[Any, Any]:
    """Return a map per key, whose entries live for `ttl` milliseconds after they were written; 0 is for ever."""
    descriptor = MapStateDescriptor(name, None, None)
    _live_for(descriptor, ttl)
    return backend.get_state(descriptor)


def value_state(backend: KeyedBackend, name: str, ttl: int = 0) -> ValueState[Any]:
    """Return a value per key, which lives for `ttl` milliseconds after it was written; 0 is for ever."""
    descriptor = ValueStateDescriptor(name, None)
    _live_for(descriptor, ttl)
    return backend.get_state(descriptor)


def _live_for(descriptor: StateDescriptor, ttl: int) -> None:
    if ttl > 0:
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.milliseconds(ttl)).build())
