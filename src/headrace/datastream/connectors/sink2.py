"""Re-export of `headrace.connectors.functions.sink2`, under PyFlink's module path."""

from headrace.connectors.functions.sink2 import (
    CommitRequest,
    Committer,
    CommitterInitContext,
    CommittingSinkWriter,
    Sink,
    SinkWriter,
    StatefulSinkWriter,
    SupportsCommitter,
    SupportsWriterState,
    WriterInitContext,
)

__all__ = [
    "CommitRequest",
    "Committer",
    "CommitterInitContext",
    "CommittingSinkWriter",
    "Sink",
    "SinkWriter",
    "StatefulSinkWriter",
    "SupportsCommitter",
    "SupportsWriterState",
    "WriterInitContext",
]
