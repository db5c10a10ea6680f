"""Totals of each item into Redis: the last one stays.

Run it with

python examples/servers/redis_totals.py redis://localhost:6379/0
"""

import sys

from headrace.common import Types
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.redis import RedisCommand, RedisSink

ORDERS = [("tea", 3), ("rice", 2), ("tea", 4)]


def main(url: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
    sink = RedisSink.builder(url).set_mapper(lambda total: RedisCommand.set(f"total:{total[0]}", total[1])).build()
    (
        env.from_collection(ORDERS, Types.TUPLE([Types.STRING(), Types.LONG()]))
        .key_by(lambda order: order[0])
        .reduce(lambda one, other: (one[0], one[1] + other[1]))
        .sink_to(sink)
    )
    env.execute("totals")


if __name__ == "__main__":
    main(*sys.argv[1:])
