"""Re-export of `headrace.connectors.functions.sink2`, under PyFlink's module path."""

from headrace.connectors.functions.sink2 import (
    CommitRequest as CommitRequest,
)
from headrace.connectors.functions.sink2 import (
    Committer as Committer,
)
from headrace.connectors.functions.sink2 import (
    CommitterInitContext as CommitterInitContext,
)
from headrace.connectors.functions.sink2 import (
    CommittingSinkWriter as CommittingSinkWriter,
)
from headrace.connectors.functions.sink2 import (
    Sink as Sink,
)
from headrace.connectors.functions.sink2 import (
    SinkWriter as SinkWriter,
)
from headrace.connectors.functions.sink2 import (
    StatefulSinkWriter as StatefulSinkWriter,
)
from headrace.connectors.functions.sink2 import (
    SupportsCommitter as SupportsCommitter,
)
from headrace.connectors.functions.sink2 import (
    SupportsWriterState as SupportsWriterState,
)
from headrace.connectors.functions.sink2 import (
    WriterInitContext as WriterInitContext,
)
