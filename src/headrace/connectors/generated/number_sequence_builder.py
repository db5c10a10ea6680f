"""NumberSequenceSource: whole numbers in ascending order, for examples, tests and benchmarks."""

from __future__ import annotations

from headrace.connectors.base.definitions import Source
from headrace.connectors.generated.number_sequence import NumberSequence
from headrace.errors import TypeMismatchError

__all__ = ["NumberSequenceSource"]


class NumberSequenceSource(Source):
    """Gives all numbers from ``start`` to ``end``; each subtask has a part of the range.

    >>> from headrace.common import Types, WatermarkStrategy
    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> numbers = env.from_source(NumberSequenceSource(1, 10), WatermarkStrategy.no_watermarks(), "numbers")
    >>> numbers.get_name(), numbers.get_type()
    ('numbers', Long)
    """

    def __init__(self, start: int, end: int) -> None:
        """Both bounds are included."""
        for bound in (start, end):
            if not isinstance(bound, int) or isinstance(bound, bool):
                raise TypeMismatchError("The bounds of a number sequence are whole numbers", seen=bound)
        super().__init__(NumberSequence(start, end))
