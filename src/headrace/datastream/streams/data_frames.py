"""Implement `DataStream.sink_to_spark` and `DataStream.to_dataframe`."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headrace.connectors.dataframes.sink import FrameFiles, FrameSink, SparkWriter
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.graph.specs import SourceSpec, StagedSink

if TYPE_CHECKING:
    from headrace.datastream.streams.stream_sinks import StreamSinks

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
        raise InvalidProgramError(
            "to_dataframe needs bounded sources",
            operator_name=endless[0].name,
            uid=endless[0].uid,
            remedy="bound the source, or write with sink_to_spark()",
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
