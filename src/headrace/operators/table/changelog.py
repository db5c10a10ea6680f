"""Changelogs: from upserts to full changes, and in the order of a sink's primary key."""

from __future__ import annotations

from typing import Any

from headrace.graph.table_specs import (
    DELETE,
    UPDATE_BEFORE,
    ChangelogNormalize,
    SinkMaterialize,
    TableKey,
)
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.keyed import (
    AS_DELETE,
    AS_INSERT,
    AS_UPDATE_AFTER,
    AS_UPDATE_BEFORE,
    KeyedTableOperator,
    Row,
    value_state,
)


class _ChangelogOperator(KeyedTableOperator):
    """Base: one change after the other, with a value per key."""

    def __init__(self, keys: tuple[int, ...], ttl: int) -> None:
        super().__init__()
        self._selector = TableKey(keys)
        self.ttl = ttl

    def open(self) -> None:
        """Get the state."""
        self.kept = value_state(self.context.keyed_state, "kept", self.ttl)

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        backend = self.context.keyed_state
        results: Values = []
        for record, key in zip(values, backend.in_turn(self.keys_of(self._selector, values, keys))):
            backend.key = key
            if record[-1] in (UPDATE_BEFORE, DELETE):
                self.retract(record[:-1], results)
            else:
                self.add(record[:-1], results)
        self.emit(results)

    def add(self, row: Row, results: Values) -> None:
        """Process +I or +U."""
        raise NotImplementedError

    def retract(self, row: Row, results: Values) -> None:
        """Process -U or -D."""
        raise NotImplementedError


class ChangelogNormalizeOperator(_ChangelogOperator):
    """Emits +I for a new key, -U and +U when its row changes, and -D with the whole row when it goes.

    Rows that do not meet the condition count as not present.
    """

    def __init__(self, spec: ChangelogNormalize) -> None:
        super().__init__(spec.keys, spec.ttl)
        self._spec = spec

    def add(self, row: Row, results: Values) -> None:
        condition = self._spec.condition
        if condition is not None and not condition.rows([row]):
            self.retract(row, results)
            return
        before = self.kept.value()
        if before is None:
            results.append(row + AS_INSERT)
        elif self.ttl > 0 or before != row:
            if self._spec.update_before:
                results.append(before + AS_UPDATE_BEFORE)
            results.append(row + AS_UPDATE_AFTER)
        else:
            return
        self.kept.update(row)

    def retract(self, row: Row, results: Values) -> None:
        before = self.kept.value()
        if before is not None:
            results.append(before + AS_DELETE)
            self.kept.clear()


class SinkMaterializeOperator(_ChangelogOperator):
    """Keeps all rows that claim a primary key, in order of arrival; the last one is what the sink shows."""

    def __init__(self, spec: SinkMaterialize) -> None:
        super().__init__(spec.keys, spec.ttl)
        self._columns = spec.upsert_key

    def add(self, row: Row, results: Values) -> None:
        rows = self.kept.value() or []
        results.append(row + (AS_UPDATE_AFTER if rows else AS_INSERT))
        at = None if self._columns is None else self._find(rows, row)
        if at is None:
            rows.append(row)
        else:
            rows[at] = row
        self.kept.update(rows)

    def retract(self, row: Row, results: Values) -> None:
        rows = self.kept.value() or []
        at = self._find(rows, row)
        if at is None:
            return  # it expired
        del rows[at]
        if not rows:
            results.append(row + AS_DELETE)
            self.kept.clear()
            return
        if at == len(rows):
            results.append(rows[-1] + AS_UPDATE_AFTER)
        self.kept.update(rows)

    def _find(self, rows: list[Row], row: Row) -> int | None:
        columns = self._columns
        if columns is None:
            return rows.index(row) if row in rows else None
        key = [row[column] for column in columns]
        return next((i for i, r in enumerate(rows) if [r[column] for column in columns] == key), None)


OPERATORS = {ChangelogNormalize: ChangelogNormalizeOperator, SinkMaterialize: SinkMaterializeOperator}
