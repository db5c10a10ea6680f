"""DataGeneratorSource: records made by a function of their index, at a given rate."""

from __future__ import annotations

from typing import Any

from headrace.connectors.base.definitions import Source
from headrace.connectors.generated.datagen import ENDLESS, DataGenerator
from headrace.functions import MapFunction
from headrace.functions.checks import check_or_callable
from headrace.types.declared_types import declared_type
from headrace.types.typeinfo import TypeInformation

__all__ = ["DataGeneratorSource"]


class DataGeneratorSource(Source):
    """Gives ``generator_function(index)`` for the indexes from 0 to ``count`` less one, for ever without ``count``.

    With ``records_per_second`` all subtasks together give about that many; the indexes are cut into ranges, one for
    each subtask.

    >>> from headrace.common import WatermarkStrategy
    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> source = DataGeneratorSource(lambda index: f"user-{index % 10}", count=1000, records_per_second=100)
    >>> env.from_source(source, WatermarkStrategy.no_watermarks(), "clicks").get_name()
    'clicks'
    """

    def __init__(
        self,
        generator_function: Any,
        count: int = ENDLESS,
        records_per_second: float | None = None,
        type_info: TypeInformation | None = None,
    ) -> None:
        """Take a callable or a MapFunction."""
        check_or_callable(generator_function, MapFunction, "The generator must be a MapFunction or a callable function")
        self.type_info = declared_type(type_info, "type_info")
        super().__init__(DataGenerator(generator_function, count, records_per_second))
