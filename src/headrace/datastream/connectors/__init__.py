"""Sources and sinks of outer systems; the names are those of `pyflink.datastream.connectors`."""

from headrace.datastream.connectors.base import DeliveryGuarantee, Sink, Source
from headrace.datastream.connectors.file_system import (
    FileEnumeratorProvider,
    FileSource,
    FileSourceBuilder,
    FileSplitAssignerProvider,
    StreamFormat,
)
from headrace.datastream.connectors.number_seq import NumberSequenceSource

__all__ = [
    "DeliveryGuarantee",
    "FileEnumeratorProvider",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "NumberSequenceSource",
    "Sink",
    "Source",
    "StreamFormat",
]
