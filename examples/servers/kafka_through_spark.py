"""Kafka by way of Spark's own connector: a topic as a DataFrame, batch and streaming.

headrace's `KafkaSource` needs no JVM and is quicker; this is for programs that have such a DataFrame already. Spark's
connector is a jar, so Spark is started with it. Run it with

    python examples/servers/kafka_through_spark.py localhost:9092 orders /path/to/spark-kafka-jars
"""

import sys
from pathlib import Path

from headrace.common import Configuration
from headrace.datastream import StreamExecutionEnvironment


def main(servers: str, topic: str, jars: str) -> None:
    configuration = Configuration()
    configuration.set_string("spark.jars", ",".join(str(jar) for jar in Path(jars).glob("*.jar")))
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(2)
    spark = env.spark_session()
    options = {"kafka.bootstrap.servers": servers, "subscribe": topic, "startingOffsets": "earliest"}
    wanted = ("CAST(key AS STRING) AS item", "CAST(CAST(value AS STRING) AS INT) AS price", "partition", "offset")

    # What is there now, once.
    orders = spark.read.format("kafka").options(**options).load().selectExpr(*wanted)
    with env.from_dataframe(orders).execute_and_collect() as rows:
        for row in sorted(rows, key=lambda row: (row.partition, row.offset)):
            print(f"batch: {row.item} {row.price} from {row.partition}/{row.offset}")

    # As a stream: the totals of each item. Without the trigger it would go on with what comes.
    stream = spark.readStream.format("kafka").options(**options).load().selectExpr(*wanted)
    totals = (
        env.from_dataframe(stream, trigger={"availableNow": True})
        .map(lambda row: (row.item, row.price))
        .key_by(lambda pair: pair[0])
        .reduce(lambda one, other: (one[0], one[1] + other[1]))
    )
    with totals.execute_and_collect() as results:
        for item, total in sorted(dict(results).items()):
            print(f"streaming: {item} {total}")


if __name__ == "__main__":
    main(*sys.argv[1:])
