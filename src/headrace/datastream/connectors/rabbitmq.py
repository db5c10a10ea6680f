"""Re-export of `headrace.connectors.rabbitmq.builders`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.connectors.rabbitmq.builders import (
    RMQConnectionConfig as RMQConnectionConfig,
)
from headrace.connectors.rabbitmq.builders import (
    RMQSink as RMQSink,
)
from headrace.connectors.rabbitmq.builders import (
    RMQSinkPublishOptions as RMQSinkPublishOptions,
)
from headrace.connectors.rabbitmq.builders import (
    RMQSource as RMQSource,
)

offer_pyflink_names(__name__)
