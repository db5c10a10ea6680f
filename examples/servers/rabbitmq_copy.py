"""Messages of one queue of RabbitMQ to another one, in capitals, until the program is ended.

Run it with

python examples/servers/rabbitmq_copy.py amqp://guest:guest@localhost:5672/%2F orders copies
"""

import sys

from headrace.common import JobClient, Types
from headrace.common.serialization import SimpleStringSchema
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.rabbitmq import RMQConnectionConfig, RMQSink, RMQSource


def start(uri: str, source: str, target: str) -> JobClient:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.enable_checkpointing(1000)  # messages are acknowledged with each checkpoint
    config = RMQConnectionConfig.Builder().set_uri(uri).build()
    orders = env.add_source(RMQSource(config, source, False, SimpleStringSchema()))
    orders.map(str.upper, Types.STRING()).add_sink(RMQSink(config, target, SimpleStringSchema()))
    return env.execute_async("copy")


if __name__ == "__main__":
    start(*sys.argv[1:]).get_job_execution_result().result()
