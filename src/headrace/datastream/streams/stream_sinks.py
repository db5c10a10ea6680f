"""Sinks of a stream: DataStreamSink, and the calls of DataStream that end a stream.

Decides which sink a call adds to the environment's registry. `execute_and_collect` and `to_dataframe` also run the
program.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from headrace.connectors.base.definitions import Sink, SupportsPreprocessing
from headrace.connectors.base.sink import Sink as SinkDefinition
from headrace.connectors.dataframes.sink import FrameFiles, FrameSink, SparkWriter
from headrace.datastream.operator_handle import OperatorHandle, check_integer
from headrace.datastream.streams.closeable_iterator import CloseableIterator
from headrace.datastream.streams.partitioned_stream import PartitionedStream
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.functions import SinkFunction
from headrace.functions.checks import check_function
from headrace.graph.specs import CollectSink, FunctionSink, OperatorSpec, PrintSink, SourceSpec, StagedSink
from headrace.graph.transformations import TransformationKind


class DataStreamSink(OperatorHandle):
    """A sink of the program. It can be named and configured, nothing follows it.

    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> env.from_collection([1, 2]).print().name("console").set_parallelism(1).get_name()
    'console'
    """


class StreamSinks(PartitionedStream):
    """The calls that end a stream.

    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> env.from_collection([1, 2]).print().get_name()
    'Print to Std. Out'
    """

    def print(self, sink_identifier: str | None = None) -> DataStreamSink:
        """Print the elements to the standard output of the program, each line prefixed with the subtask's number.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_collection([1]).print().get_name()
        'Print to Std. Out'
        """
        return self._sink(PrintSink(sink_identifier, input_type=self.transformation.output_type), "Print to Std. Out")

    def print_to_err(self, sink_identifier: str | None = None) -> DataStreamSink:
        """Print the elements to the standard error of the program.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_collection([1]).print_to_err("debug").get_name()
        'Print to Std. Err'
        """
        spec = PrintSink(sink_identifier, stderr=True, input_type=self.transformation.output_type)
        return self._sink(spec, "Print to Std. Err")

    def add_sink(self, sink_func: SinkFunction) -> DataStreamSink:
        """Pass the elements to a SinkFunction, or to a connector that PyFlink programs pass here."""
        if isinstance(sink_func, Sink):
            return self._sink_of(sink_func, steps=False)
        check_function(sink_func, (SinkFunction,), ("invoke",), "The input must be a SinkFunction!")
        kind = self.transformation.output_type
        definition = sink_func.get_definition() if isinstance(sink_func, SinkFunction) else None
        return self._sink(
            FunctionSink(sink_func, kind) if definition is None else StagedSink(definition, kind), "Unnamed"
        )

    def sink_to(self, sink: Any) -> DataStreamSink:
        """Pass the elements to a sink of `headrace.datastream.connectors`."""
        return self._sink_of(sink, steps=True)

    def sink_to_spark(
        self,
        format: str,
        options: Mapping[str, Any] | None = None,
        *,
        schema: Any,
        mode: str = "append",
        partition_by: Sequence[str] = (),
    ) -> DataStreamSink:
        """Pass the elements to any batch writer of Spark. The driver writes once for each checkpoint.

        ``schema`` is a StructType or a DDL string. Elements are rows, tuples, dicts, or single values for one column. In
        the values of ``options``, ``{epoch}`` is the number of the checkpoint and ``{job}`` the id of the job. A retried
        write has the same values, so a writer can recognize it. Without them, a write may happen twice after a failure.
        """
        sink = spark_sink(self, format, options or {}, schema, mode, partition_by)
        return self._sink(StagedSink(sink, self.transformation.output_type), f"Spark {format}")

    def to_dataframe(self, schema: Any, job_execution_name: str | None = None) -> Any:
        """Run the program until it finishes and return the elements of this stream as a PySpark DataFrame.

        For bounded streams. The rows are in files of this process, which are removed when it exits.
        """
        return as_data_frame(self, schema, job_execution_name)

    def execute_and_collect(self, job_execution_name: str | None = None, limit: int | None = None) -> Any:
        """Run the program and return the elements of this stream: an iterator, or a list of at most ``limit`` elements.

        The iterator is a context manager. Closing it cancels the job if it is still running.
        """
        if limit is not None:
            check_integer(limit, "limit")
            if limit < 1:
                raise InvalidProgramError("Limit must be greater than 0", seen=limit)
        collect_id = f"collect-{self._id}"
        sink = self._sink(CollectSink(collect_id, self.transformation.output_type), "Data stream collect sink")
        t = self.transformation
        # The same parallelism avoids an exchange, so the elements of a subtask keep their order.
        same = t.parallelism if t.kind is TransformationKind.OPERATOR else 1
        self._env.registry.update(sink.transformation_id, parallelism=same, non_parallel=t.non_parallel)
        results = CloseableIterator(self._env.submit(job_execution_name), collect_id)
        return results if limit is None else results.take(limit)

    def _sink_of(self, sink: object, steps: bool) -> DataStreamSink:
        """Attach a sink of a connector to this stream, or to the stream that the sink prepares for itself."""
        stream: StreamSinks = self
        if isinstance(sink, SupportsPreprocessing) and (transformer := sink.get_transformer()) is not None:
            stream = transformer.apply(self)
        kind = stream.transformation.output_type
        definition = sink.definition_for(kind) if isinstance(sink, Sink) else sink
        if not isinstance(definition, SinkDefinition):
            raise TypeMismatchError(
                "sink_to takes a sink of headrace.datastream.connectors",
                seen=sink,
                expected="a Sink",
                remedy="a SinkFunction goes to add_sink(); Java sinks cannot run",
            )
        names = ("Writer", "Committer") if definition.commits() else ("Writer",)
        spec = StagedSink(definition, kind, names if steps else ())
        return StreamSinks._sink(stream, spec, "Sink" if steps else "Unnamed")

    def sink_operator(self, spec: OperatorSpec, name: str) -> DataStreamSink:
        """Add a sink whose input is this stream."""
        return self._sink(spec, name)

    def _sink(self, spec: OperatorSpec, name: str) -> DataStreamSink:
        operator = self._env.registry.add(TransformationKind.OPERATOR, (self._id,), spec=spec, name=name, is_sink=True)
        return DataStreamSink(self._env, operator).name(name)


STATE_DIRECTORY = "headrace.state.directory"
_MODES = ("append", "overwrite", "ignore", "error", "errorifexists")


def spark_sink(
    stream: StreamSinks, format: str, options: Mapping[str, Any], schema: Any, mode: str, partition_by: Sequence[str]
) -> FrameSink:
    """Return the sink that commits with a Spark writer."""
    from headrace.spark import dataframes

    if not isinstance(format, str) or not format:
        raise TypeMismatchError("sink_to_spark takes the name of a Spark format", seen=format)
    if mode not in _MODES:
        raise InvalidProgramError("Unknown save mode", seen=mode, expected=" or ".join(_MODES))
    wanted = _schema(stream, schema)
    texts = tuple((str(k), str(v).lower() if isinstance(v, bool) else str(v)) for k, v in options.items())
    env = stream.get_execution_environment()
    target = SparkWriter(wanted.json(), format, texts, mode, tuple(partition_by), env.spark_session())
    return FrameSink(dataframes.row_type_of(wanted), target, env.get_configuration().to_dict().get(STATE_DIRECTORY))


def as_data_frame(stream: StreamSinks, schema: Any, job_name: str | None) -> Any:
    """Run the program and return the rows of the stream."""
    from headrace.spark import dataframes

    env = stream.get_execution_environment()
    endless = [
        t
        for t in env.registry.program()
        if isinstance(t.spec, SourceSpec) and not (t.spec.source.bounded or t.spec.source.may_finish)
    ]
    if endless:
        raise endless[0].invalid(
            "to_dataframe needs bounded sources", remedy="bound the source, or write with sink_to_spark()"
        )
    wanted = _schema(stream, schema)
    parent = env.get_configuration().to_dict().get(STATE_DIRECTORY)
    if parent is not None:
        os.makedirs(parent, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="headrace-frame-", dir=parent)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    sink = FrameSink(dataframes.row_type_of(wanted), FrameFiles(folder))
    stream._sink(StagedSink(sink, stream.transformation.output_type), "DataFrame")  # noqa: SLF001 - a part of the stream
    env.execute(job_name)
    paths = sorted(os.path.join(folder, name) for name in os.listdir(folder))
    return dataframes.read_files(env.spark_session(), paths, wanted)


def _schema(stream: StreamSinks, given: Any) -> Any:
    from headrace.spark import dataframes

    stream.get_execution_environment().spark_session()  # Spark itself parses a schema string
    return dataframes.schema_of(given)
