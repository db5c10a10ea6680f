"""The source of an iteration: gives again what the end of the loop has sent, in the next epoch.

Its records never leave the job: tasks report them to the driver with their acknowledgement, and the driver hands them out
with the orders of the next epoch, so they are counted once, also when an epoch has to be repeated. Has no readers: the
operator (`headrace.operators.feedback`) emits what the order brings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from headrace.connectors.base.source import ReaderContext, Source, Split
from headrace.types.typeinfo import TypeInformation


@dataclass(frozen=True)
class Returned:
    """What an order brings to a loop: runs of records, and whether only a timer in the loop can bring more (`quiet`)."""

    runs: list[Any]
    quiet: bool = False


class FeedbackSource(Source):
    """The beginning of the iteration `feedback_id`.

    >>> FeedbackSource("loop").splits(2)
    [[Split(id='feedback', payload=None)], [Split(id='feedback', payload=None)]]
    """

    bounded = False
    may_finish = True

    def __init__(
        self, feedback_id: str, produced_type: TypeInformation | None = None, max_wait_millis: int = 0
    ) -> None:
        """Records already have `produced_type` when they come back.

        `max_wait_millis` is how long to wait for timers in the loop when nothing else can come; 0 is as long as it takes.
        """
        self.feedback_id = feedback_id
        self.max_wait_millis = max_wait_millis
        self.produced_type = produced_type

    def splits(self, parallelism: int) -> list[list[Split]]:
        return [[Split("feedback")] for _ in range(parallelism)]

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> NoReturn:
        raise NotImplementedError("the records of an iteration come with the orders of the driver")
