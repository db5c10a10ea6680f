"""Each row with the rows that an external system has for its key."""

from __future__ import annotations

from typing import Any

from headrace.graph.table_join_specs import LookupJoin
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.keyed import KeyedTableOperator, Row


class LookupJoinOperator(KeyedTableOperator):
    """The operator of `LookupJoin`. A key with null has no rows. Results have the kind of the row."""

    def __init__(self, spec: LookupJoin) -> None:
        super().__init__()
        self._spec = spec
        self._nulls = (None,) * spec.width
        self._cache: dict[Row, tuple[list[Row], int]] = {}

    def open(self) -> None:
        """Connect to the external system."""
        self.guarded(self._spec.lookup.open)

    def close(self) -> None:
        """Close the connection."""
        self.guarded(self._spec.lookup.close)

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        spec, condition = self._spec, self._spec.condition
        results: Values = []
        progress = iter(values)
        try:
            for record in progress:
                row, mark = (record[:-1], record[-1:]) if spec.kinds else (record, ())
                found = self._found(tuple([k[1] if isinstance(k, tuple) else row[k] for k in spec.keys]))
                if condition is not None:
                    found = [other for other in found if condition.pair(row, other)]
                if found:
                    results += [row + other + mark for other in found]
                elif spec.kind == "LEFT":
                    results.append(row + self._nulls + mark)
        except Exception as error:
            raise self.failure(error, values, progress) from error
        self.emit(results)

    def _found(self, key: Row) -> list[Row]:
        if None in key:
            return []
        spec = self._spec
        if not spec.cache_rows:
            return list(spec.lookup.rows(key))
        now = self.context.clock.now()
        cached = self._cache.pop(key, None)
        if cached is None or (spec.cache_ttl and cached[1] + spec.cache_ttl <= now):
            cached = (list(spec.lookup.rows(key)), now)
        self._cache[key] = cached  # at the end: the first key is the one that was not used for the longest time
        if len(self._cache) > spec.cache_rows:
            del self._cache[next(iter(self._cache))]
        return cached[0]


OPERATORS = {LookupJoin: LookupJoinOperator}
