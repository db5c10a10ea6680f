"""Re-export of `headrace.connectors.files.source_builder`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.connectors.files.source_builder import (
    BucketAssigner,
    BulkFormat,
    DefaultRollingPolicy,
    FileCompactor,
    FileCompactStrategy,
    FileEnumeratorProvider,
    FileSink,
    FileSource,
    FileSourceBuilder,
    FileSplitAssignerProvider,
    OnCheckpointRollingPolicy,
    OutputFileConfig,
    RecordWiseFileCompactor,
    RollingPolicy,
    StreamFormat,
    StreamingFileSink,
)

__all__ = [
    "BucketAssigner",
    "BulkFormat",
    "DefaultRollingPolicy",
    "FileCompactStrategy",
    "FileCompactor",
    "FileEnumeratorProvider",
    "FileSink",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "OnCheckpointRollingPolicy",
    "OutputFileConfig",
    "RecordWiseFileCompactor",
    "RollingPolicy",
    "StreamFormat",
    "StreamingFileSink",
]

offer_pyflink_names(__name__, "headrace.connectors.files.source_builder")
