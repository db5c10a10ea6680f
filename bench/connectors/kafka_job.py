"""Kafka -> map -> Kafka, one program for headrace and PyFlink: `python kafka_job.py ROOT SERVERS IN OUT GUARANTEE SETTINGS`.

ROOT is the package, `headrace` or `pyflink`; SETTINGS is JSON, the keys of the configuration. Bounded: all that is in IN.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any


def convert(text: str) -> str:
    """What every engine does with a message: reads the JSON, changes it, writes it."""
    order = json.loads(text)
    order["total"] = round(order["price"] * order["count"], 2)
    del order["price"]
    return json.dumps(order)


def main(root: str, servers: str, source: str, target: str, guarantee: str, settings: str) -> None:
    common = importlib.import_module(f"{root}.common")
    datastream = importlib.import_module(f"{root}.datastream")
    schema = importlib.import_module(f"{root}.common.serialization").SimpleStringSchema
    kafka: Any = importlib.import_module(f"{root}.datastream.connectors.kafka")
    base = importlib.import_module(f"{root}.datastream.connectors.base")

    configuration = common.Configuration()
    for key, value in json.loads(settings).items():
        configuration.set_string(key, value)
    env = datastream.StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    messages = (
        kafka.KafkaSource.builder()
        .set_bootstrap_servers(servers)
        .set_topics(source)
        .set_group_id(f"bench-{target}")
        .set_starting_offsets(kafka.KafkaOffsetsInitializer.earliest())
        .set_bounded(kafka.KafkaOffsetsInitializer.latest())
        .set_value_only_deserializer(schema())
        .build()
    )
    record = kafka.KafkaRecordSerializationSchema.builder().set_topic(target)
    sink = (
        kafka.KafkaSink.builder()
        .set_bootstrap_servers(servers)
        .set_record_serializer(record.set_value_serialization_schema(schema()).build())
        .set_delivery_guarantee(getattr(base.DeliveryGuarantee, guarantee))
        .set_transactional_id_prefix(f"bench-{target}")
        .set_property("transaction.timeout.ms", "600000")
        .build()
    )
    stream = env.from_source(messages, common.WatermarkStrategy.no_watermarks(), "in")
    stream.map(convert, common.Types.STRING()).sink_to(sink)
    env.execute("kafka to kafka")


if __name__ == "__main__":
    main(*sys.argv[1:])
