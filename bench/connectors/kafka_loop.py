"""The same as kafka_job.py by hand, one process for a partition: `python kafka_loop.py SERVERS IN OUT PARTITION END`."""

from __future__ import annotations

import sys

from confluent_kafka import Consumer, Producer, TopicPartition
from kafka_job import convert


def main(servers: str, source: str, target: str, partition: int, end: int) -> None:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": f"bench-{target}", "enable.auto.commit": False})
    consumer.assign([TopicPartition(source, partition, 0)])
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 5, "queue.buffering.max.messages": 500_000})
    done = 0
    while done < end:
        messages = consumer.consume(4096, 0.1)
        for message in messages:
            if message.error() is not None:
                raise RuntimeError(message.error().str())
            while True:
                try:
                    producer.produce(target, convert(message.value().decode()).encode(), partition=partition)
                    break
                except BufferError:
                    producer.poll(0.05)
        producer.poll(0)
        done += len(messages)
    if producer.flush(60):
        raise RuntimeError("messages were not delivered")
    consumer.close()


if __name__ == "__main__":
    main(*sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5]))
