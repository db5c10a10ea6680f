"""A job that a test kills: `python counting_job.py SERVERS IN OUT DIRECTORY [SETTINGS]`. Started again, it goes on.

Counts the messages of each key in state and writes each count to Kafka, exactly once.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from headrace.common import Configuration, Types, WatermarkStrategy
from headrace.common.serialization import SimpleStringSchema
from headrace.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from headrace.datastream.connectors.base import DeliveryGuarantee
from headrace.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from headrace.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: str, ctx: Any) -> Any:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield f"{value} {count}"


def main(servers: str, source: str, target: str, directory: str, settings: str = "{}") -> None:
    configuration = Configuration.from_dict(
        {
            "headrace.job.id": "counting",
            "headrace.epoch.max-records": "50",
            "execution.checkpointing.interval": "100 ms",
            "execution.checkpointing.dir": f"{directory}/checkpoints",
            "headrace.state.directory": f"{directory}/state",
            "spark.master": "local[2,4]",
            "spark.ui.enabled": "false",
            **json.loads(settings),
        }
    )
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(2)
    messages = (
        KafkaSource.builder()
        .set_bootstrap_servers(servers)
        .set_topics(source)
        .set_value_only_deserializer(SimpleStringSchema())
        .set_bounded(KafkaOffsetsInitializer.latest())
        .build()
    )
    schema = KafkaRecordSerializationSchema.builder().set_topic(target)
    sink = (
        KafkaSink.builder()
        .set_bootstrap_servers(servers)
        .set_record_serializer(schema.set_value_serialization_schema(SimpleStringSchema()).build())
        .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .set_transactional_id_prefix(f"counting-{target}")
        .build()
    )
    stream = env.from_source(messages, WatermarkStrategy.no_watermarks(), "in", Types.STRING())
    counts = stream.key_by(lambda word: word, Types.STRING()).process(Count(), Types.STRING())
    counts.sink_to(sink)
    env.execute("counting")
    print("finished")


if __name__ == "__main__":
    main(*sys.argv[1:])
