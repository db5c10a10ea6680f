"""The stream classes, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.datastream.streams.cached_data_stream import CachedDataStream
from headrace.datastream.streams.closeable_iterator import CloseableIterator
from headrace.datastream.streams.connected_streams import BroadcastConnectedStream, BroadcastStream, ConnectedStreams
from headrace.datastream.streams.data_stream import DataStream
from headrace.datastream.streams.keyed_stream import KeyedStream
from headrace.datastream.streams.stream_sinks import DataStreamSink
from headrace.datastream.streams.windowed_stream import AllWindowedStream, WindowedStream

__all__ = [
    "AllWindowedStream",
    "BroadcastConnectedStream",
    "BroadcastStream",
    "CachedDataStream",
    "CloseableIterator",
    "ConnectedStreams",
    "DataStream",
    "DataStreamSink",
    "KeyedStream",
    "WindowedStream",
]

offer_pyflink_names(__name__)
