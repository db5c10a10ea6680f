"""Both ends of an iteration: records that reach the last operator of the loop return to its first in the next epoch.

The source is idle from the start, so event time in the loop follows the records from outside, like in Flink: watermarks do
not circulate.
"""

from __future__ import annotations

from typing import Any

from headrace.common.watermark_strategy import WatermarkStrategy
from headrace.connectors.feedback import FeedbackSource, Returned
from headrace.operators.base import Operator
from headrace.operators.output import Timestamps, Values
from headrace.operators.source import ReadBudget, SourceOperator, SplitPosition
from headrace.types.codecs import codec_for
from headrace.types.typeinfo import TypeInformation

Run = tuple[Values, Timestamps]


class FeedbackSourceOperator(SourceOperator):
    """Emits the runs of records in the driver's order. Ends when the order says that no more can come."""

    def __init__(self, source: FeedbackSource) -> None:
        super().__init__(source, WatermarkStrategy.no_watermarks())
        self._max_wait = source.max_wait_millis
        self._quiet_since: int | None = None
        self._runs: list[Run] = []
        self._over = False

    def assign(self, positions: list[SplitPosition]) -> None:
        (order,) = positions
        returned = order.position or Returned([])
        self._runs, self._over = returned.runs, order.finished or self._waited_enough(returned.quiet)

    def _waited_enough(self, quiet: bool) -> bool:
        """Return whether nothing has come back for the maximum wait time."""
        if not quiet:
            self._quiet_since = None
            return False
        now = self.context.clock.now()
        if self._quiet_since is None:
            self._quiet_since = now
        return 0 < self._max_wait <= now - self._quiet_since

    @property
    def exhausted(self) -> bool:
        """Return whether nothing can come back any more."""
        return self._over

    def read(self, budget: ReadBudget) -> None:
        """Emit everything that came back. The budget does not apply: it was counted when it was first read."""
        if not self._said_idle:
            self._said_idle = True
            self.output.emit_idle(True)
        runs, self._runs = self._runs, []
        for values, timestamps in runs:
            self.records += len(values)
            self.output.emit(values, timestamps)
            self.tick()

    def positions(self) -> list[SplitPosition]:
        """Return none: the driver knows what came back."""
        return []


class FeedbackSinkOperator(Operator):
    """Keeps records for the driver."""

    def __init__(self, feedback_id: str, input_type: TypeInformation | None) -> None:
        super().__init__()
        self.feedback_id = feedback_id
        self._coerce = codec_for(input_type).coerce
        self._runs: list[Run] = []

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        try:
            self._runs.append((self._coerce(values), timestamps))
        except Exception as error:
            raise self.failure(error, values, None) from error

    def take(self) -> list[Run]:
        """Return the runs of this epoch."""
        runs, self._runs = self._runs, []
        return runs
