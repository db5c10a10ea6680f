"""Tumbling and sliding windows behind a `LocalWindowOperator`: what comes are runs of records, combined already."""

from __future__ import annotations

from typing import Any

from headrace.operators.output import Timestamps, Values
from headrace.operators.windows.aligned import AlignedWindowOperator

__all__ = ["CombiningWindowOperator"]


class CombiningWindowOperator(AlignedWindowOperator):
    """Merges runs into their windows; runs have no timestamps, records that were not worth combining have theirs."""

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """Add runs, or records."""
        if timestamps is not None:
            super().process_batch(values, timestamps, keys)
            return
        assert keys is not None
        try:
            self.drop_late(self.merge_runs(keys, values))
        except Exception as error:
            raise self.failure_for(error, None) from error
