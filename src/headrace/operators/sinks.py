"""Sinks that run in the task: a Python SinkFunction, print, and collecting for the driver."""

from __future__ import annotations

from itertools import repeat
from typing import Any

from headrace.connectors.base.sink_writer import ElementContext
from headrace.operators.base import FunctionOperator, Operator
from headrace.operators.output import Timestamps, Values
from headrace.types.codecs import codec_for
from headrace.types.java_formatting import string_form
from headrace.types.typeinfo import TypeInformation


class FunctionSinkOperator(FunctionOperator):
    """`invoke(value, context)` per record."""

    def __init__(self, func: Any, input_type: TypeInformation | None) -> None:
        super().__init__(func)
        self._input_type = input_type
        self._coerce = codec_for(input_type).coerce

    def open(self) -> None:
        """Tell the function its input type, if it has `set_input_type`, and open it."""
        tell = getattr(self.func, "set_input_type", None)
        if callable(tell):
            self.guarded(tell, self._input_type)
        super().open()

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        context = ElementContext(lambda: self.watermark, self.context.clock.now)
        invoke = self.func.invoke
        records = iter(values)
        try:
            values = self._coerce(values)
            records = iter(values)
            for i, v in enumerate(records):
                if timestamps is not None:
                    context.record_timestamp = timestamps[i]
                invoke(v, context)
        except Exception as error:
            raise self.failure(error, values, records) from error

    def finish(self) -> None:
        """Let the function flush its buffers."""
        finisher = getattr(self.func, "finish", None)
        if callable(finisher):
            self.guarded(finisher)


class PrintSinkOperator(Operator):
    """Prints lines like Flink: `prefix:subtask> value`, the subtask only if there are several."""

    def __init__(self, identifier: str | None, stderr: bool, input_type: TypeInformation | None) -> None:
        super().__init__()
        self._identifier = identifier
        self._stderr = stderr
        self._coerce = codec_for(input_type).coerce
        self._form = string_form(input_type)

    def open(self) -> None:
        task = self.context.task
        parts = [self._identifier] if self._identifier else []
        if task.parallelism > 1:
            parts.append(str(task.subtask + 1))
        self._prefix = ":".join(parts) + "> " if parts else ""

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        records = iter(values)
        try:
            values = self._coerce(values)
            records = iter(values)
            prefix, form = self._prefix, self._form
            lines = [prefix + form(v) for v in records]
        except Exception as error:
            raise self.failure(error, values, records) from error
        self.context.driver.print_lines(lines, self._stderr)


class CollectSinkOperator(Operator):
    """Sends records to `execute_and_collect`."""

    def __init__(self, collect_id: str, input_type: TypeInformation | None) -> None:
        super().__init__()
        self._collect_id = collect_id
        self._coerce = codec_for(input_type).coerce

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        try:
            self.context.driver.collect(self._collect_id, self._coerce(values))
        except Exception as error:
            raise self.failure(error, values, None) from error


class CacheSinkOperator(CollectSinkOperator):
    """Sends records with their timestamps to a cached stream in the driver."""

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        try:
            elements = list(zip(self._coerce(values), timestamps or repeat(None)))
            self.context.driver.collect(self._collect_id, elements)
        except Exception as error:
            raise self.failure(error, values, None) from error
