"""The source of an iteration: emits in the next epoch what the end of the loop has sent.

Its records never leave the job: tasks report them to the driver with their acknowledgement, and the driver hands them out
with the orders of the next epoch, so they count once even if an epoch is retried. It has neither an enumerator nor readers:
the operator (`headrace.operators.source`) emits the records of the order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from headrace.connectors.base.source import Source
from headrace.connectors.base.split_enumerator import Split
from headrace.connectors.base.split_reader import ReaderContext
from headrace.types.typeinfo import TypeInformation


@dataclass(frozen=True)
class Returned:
    """Records for a loop: runs of records, and whether only a timer in the loop can add more (`quiet`)."""

    runs: list[Any]
    quiet: bool = False


@dataclass(frozen=True, eq=False)
class FeedbackSource(Source):
    """The beginning of the iteration `feedback_id`.

    >>> FeedbackSource("loop").may_finish
    True
    """

    feedback_id: str
    produced_type: TypeInformation | None = None
    """The type that records already have when they come back."""
    max_wait_millis: int = 0
    """How long to wait for timers in the loop when nothing else can arrive; 0 is as long as it takes."""
    split = Split("feedback")
    """Every subtask has one."""
    bounded = False
    may_finish = True

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> NoReturn:
        raise NotImplementedError("the records of an iteration come with the orders of the driver")
