"""MATCH_RECOGNIZE: the operators of `headrace.cep` over rows, whose time is a column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.graph.specs import Cep
from headrace.graph.table_sort_specs import Match
from headrace.graph.table_specs import TableKey
from headrace.operators.cep.event_time import EventTimeCepOperator
from headrace.operators.cep.operator import CepOperator
from headrace.operators.cep.processing_time import ProcessingTimeCepOperator
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.keyed import Row
from headrace.operators.table.ordering import sort_key
from headrace.state.opaque_key import filed_keys


class _OneRow:
    """What the operator does with a match: one row with the key and the measures."""

    def __init__(self, spec: Match) -> None:
        self._keys, self._measures = spec.keys, spec.measures

    def process_match(self, match: dict[str, list[Row]], context: Any) -> list[Row]:
        """Return the result of a match."""
        first = next(iter(match.values()))[0]
        return [(*[first[column] for column in self._keys], *self._measures.row(match))]


class _Order:
    """The order of rows with the same time."""

    def __init__(self, key: Callable[[Row], Any]) -> None:
        self._key = key

    def compare(self, one: Row, other: Row) -> int:
        """Return a number below zero if the first row comes first, above zero if the other one does."""
        a, b = self._key(one), self._key(other)
        return -1 if a < b else int(b < a)


class _OverRows(CepOperator):
    """What both operators share: keys from columns, and results without timestamps."""

    grouped_in_batch = False

    def __init__(self, spec: Match) -> None:
        comparator = _Order(sort_key(spec.order_by)) if spec.order_by else None
        super().__init__(Cep(spec.pattern, _OneRow(spec), spec.event_time, comparator))
        self.match = spec
        self._selector = TableKey(spec.keys)

    def keys_of(self, values: Values, keys: list[Any] | None) -> list[Any]:
        """Return the key of each row."""
        return filed_keys([self._selector(row) for row in values]) if keys is None else keys

    def emit_results(self) -> None:
        results, self._results, self._times = self._results, [], []
        self.output.emit(results, None)


class EventTimeMatchOperator(_OverRows, EventTimeCepOperator):
    """The operator of `Match` in event time."""

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        column = self.match.time
        super().process_batch(values, [row[column] // 1000 for row in values], self.keys_of(values, keys))


class ProcessingTimeMatchOperator(_OverRows, ProcessingTimeCepOperator):
    """The operator of `Match` in processing time."""

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        super().process_batch(values, None, self.keys_of(values, keys))


OPERATORS = {Match: lambda spec: EventTimeMatchOperator(spec) if spec.event_time else ProcessingTimeMatchOperator(spec)}
