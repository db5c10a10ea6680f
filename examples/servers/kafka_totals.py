"""Kafka to Kafka, exactly once: orders as JSON become running totals for each item.

It reads all that is in the topic and ends; without `set_bounded` it would go on for ever. Run it with

    python examples/servers/kafka_totals.py localhost:9092 orders totals
"""

import sys

from headrace.common import Types, WatermarkStrategy
from headrace.common.serialization import SimpleStringSchema
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.base import DeliveryGuarantee
from headrace.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from headrace.datastream.formats.json import JsonRowDeserializationSchema

ORDER = Types.ROW_NAMED(["item", "price"], [Types.STRING(), Types.LONG()])


def main(servers: str, orders: str, totals: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
    env.enable_checkpointing(1000)  # messages appear with each checkpoint
    source = (
        KafkaSource.builder()
        .set_bootstrap_servers(servers)
        .set_topics(orders)
        .set_group_id("totals")
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_bounded(KafkaOffsetsInitializer.latest())
        .set_value_only_deserializer(JsonRowDeserializationSchema.builder().type_info(ORDER).build())
        .build()
    )
    messages = KafkaRecordSerializationSchema.builder().set_topic(totals)
    sink = (
        KafkaSink.builder()
        .set_bootstrap_servers(servers)
        .set_record_serializer(messages.set_value_serialization_schema(SimpleStringSchema()).build())
        .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .set_transactional_id_prefix("totals")
        .build()
    )
    (
        env.from_source(source, WatermarkStrategy.no_watermarks(), "orders")
        .map(lambda order: (order.item, order.price), Types.TUPLE([Types.STRING(), Types.LONG()]))
        .key_by(lambda pair: pair[0])
        .reduce(lambda one, other: (one[0], one[1] + other[1]))
        .map(lambda pair: f"{pair[0]} {pair[1]}", Types.STRING())
        .sink_to(sink)
    )
    env.execute("totals")


if __name__ == "__main__":
    main(*sys.argv[1:])
