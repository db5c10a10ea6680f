"""DataStreamSink: the end of a stream. Decides nothing but which settings a sink has."""

from __future__ import annotations

from headrace.datastream.operator_handle import OperatorHandle

__all__ = ["DataStreamSink"]


class DataStreamSink(OperatorHandle):
    """A sink in the program; it can be named and configured, nothing follows it.

    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> env.from_collection([1, 2]).print().name("console").set_parallelism(1).get_name()
    'console'
    """

    _what = "DataStreamSink"
