"""Re-export of `headrace.connectors.jdbc.sink_builder`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.connectors.jdbc.sink_builder import (
    JdbcConnectionOptions as JdbcConnectionOptions,
)
from headrace.connectors.jdbc.sink_builder import (
    JdbcExecutionOptions as JdbcExecutionOptions,
)
from headrace.connectors.jdbc.sink_builder import (
    JdbcSink as JdbcSink,
)

offer_pyflink_names(__name__)
