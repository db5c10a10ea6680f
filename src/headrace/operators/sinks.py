"""Sinks: a Python SinkFunction, print, collecting for the driver, and sinks whose output is staged until a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any

from headrace.connectors.base.sink import Sink
from headrace.connectors.base.sink_committer import Handle
from headrace.connectors.base.sink_writer import ElementContext, EpochEnd, RecordError, SinkWriter, WriterContext
from headrace.foundation.faultpoints import reach
from headrace.operators.base import FunctionOperator, Operator
from headrace.operators.context import TaskRuntimeContext
from headrace.operators.output import Timestamps, Values
from headrace.state.descriptors import ListStateDescriptor
from headrace.types.codecs import codec_for
from headrace.types.column_run import as_columns
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
            self.context.driver.collect(self._collect_id, self._elements(values, timestamps))
        except Exception as error:
            raise self.failure(error, values, None) from error

    def _elements(self, values: Values, timestamps: Timestamps) -> list[Any]:
        return self._coerce(values)


class CacheSinkOperator(CollectSinkOperator):
    """Sends records with their timestamps to a cached stream in the driver."""

    def _elements(self, values: Values, timestamps: Timestamps) -> list[Any]:
        return list(zip(self._coerce(values), timestamps or repeat(None)))


WRITER_STATE = ListStateDescriptor("_writer", None)


class StagedSinkOperator(Operator):
    """One subtask of a sink."""

    def __init__(self, sink: Sink, input_type: TypeInformation | None) -> None:
        super().__init__()
        self._sink = sink
        self.takes_columns = sink.takes_columns
        self._coerce = codec_for(input_type).coerce
        self._writer: SinkWriter | None = None
        self._handles: list[Handle] = []

    def user_functions(self) -> Sequence[Any]:
        return self._sink.functions()

    def open(self) -> None:
        """Open the writer with the restored state of its predecessor, if there was one."""
        self.initialize_functions()
        task = self.context.task
        context = WriterContext(
            self.context.operator_id,
            task.job_id,
            task.subtask,
            task.parallelism,
            task.attempt,
            TaskRuntimeContext(self.context, keyed=False),
            task.state_directory,
            self.context.restored_checkpoint,
            lambda: self.watermark,
            self.context.clock.now,
            task.staging_directory or task.state_directory,
        )
        self._state = self.context.operator_state.get_list_state(WRITER_STATE)
        self._writer = self.guarded(self._sink.open_writer, context, self._state.get())

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        assert self._writer is not None, "the operator is open"
        try:
            self._writer.write(self._coerce(values) if as_columns(values) is None else values, timestamps)
        except RecordError as error:
            cause = error.__cause__
            assert isinstance(cause, Exception), "a RecordError has the error of user code as its cause"
            raise self.failure_for(cause, error.value) from cause
        except Exception as error:
            raise self.failure(error, values, None) from error

    def process_watermark(self, timestamp: int) -> None:
        assert self._writer is not None, "the operator is open"
        super().process_watermark(timestamp)
        self.guarded(self._writer.write_watermark, timestamp)

    def end_epoch(self) -> None:
        self._prepare(last=False)

    def finish(self) -> None:
        self._prepare(last=True)

    def _prepare(self, last: bool) -> None:
        assert self._writer is not None, "the operator is open"
        epoch, task = self.context.epoch, self.context.task
        name = f"{self.context.operator_id}-{task.subtask}-{epoch.handle}"
        end = EpochEnd(
            name, epoch.checkpoint, epoch.generation, epoch.checkpointing, last, now=self.context.clock.now()
        )
        reach("precommit.pre")
        payloads = self.guarded(self._writer.end_epoch, end)
        self._handles = [
            Handle(name if len(payloads) == 1 else f"{name}.{i}", task.subtask, epoch.checkpoint, epoch.generation, p)
            for i, p in enumerate(payloads)
        ]
        reach("precommit.mid")
        state = self._writer.state()
        if state is not None or self._state.get():
            self._state.update([] if state is None else [state])
        reach("precommit.post")

    def take_handles(self) -> list[Handle]:
        """Return what this epoch staged."""
        handles, self._handles = self._handles, []
        return handles

    def close(self) -> None:
        if self._writer is not None:
            writer, self._writer = self._writer, None
            self.guarded(writer.close)
