"""RabbitMQ as source and sink; the names are those of `pyflink.datastream.connectors.rabbitmq`."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.connectors.base.definitions import Sink as Sink
from headrace.connectors.base.definitions import Source as Source
from headrace.connectors.rabbitmq.client import RMQConnectionConfig
from headrace.connectors.rabbitmq.sink import RMQSink, RMQSinkPublishOptions
from headrace.connectors.rabbitmq.source import RMQSource
from headrace.types.serialization import SerializationSchema as SerializationSchema

__all__ = ["RMQConnectionConfig", "RMQSink", "RMQSinkPublishOptions", "RMQSource"]

offer_pyflink_names(__name__, "headrace.connectors.rabbitmq.source")
