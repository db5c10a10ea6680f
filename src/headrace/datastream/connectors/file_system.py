"""Re-export of `headrace.connectors.files.source_builder`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.connectors.files.source_builder import (
    BucketAssigner as BucketAssigner,
)
from headrace.connectors.files.source_builder import (
    BulkFormat as BulkFormat,
)
from headrace.connectors.files.source_builder import (
    DefaultRollingPolicy as DefaultRollingPolicy,
)
from headrace.connectors.files.source_builder import (
    FileCompactor as FileCompactor,
)
from headrace.connectors.files.source_builder import (
    FileCompactStrategy as FileCompactStrategy,
)
from headrace.connectors.files.source_builder import (
    FileEnumeratorProvider as FileEnumeratorProvider,
)
from headrace.connectors.files.source_builder import (
    FileSink as FileSink,
)
from headrace.connectors.files.source_builder import (
    FileSource as FileSource,
)
from headrace.connectors.files.source_builder import (
    FileSourceBuilder as FileSourceBuilder,
)
from headrace.connectors.files.source_builder import (
    FileSplitAssignerProvider as FileSplitAssignerProvider,
)
from headrace.connectors.files.source_builder import (
    OnCheckpointRollingPolicy as OnCheckpointRollingPolicy,
)
from headrace.connectors.files.source_builder import (
    OutputFileConfig as OutputFileConfig,
)
from headrace.connectors.files.source_builder import (
    RecordWiseFileCompactor as RecordWiseFileCompactor,
)
from headrace.connectors.files.source_builder import (
    RollingPolicy as RollingPolicy,
)
from headrace.connectors.files.source_builder import (
    StreamFormat as StreamFormat,
)
from headrace.connectors.files.source_builder import (
    StreamingFileSink as StreamingFileSink,
)

offer_pyflink_names(__name__)
