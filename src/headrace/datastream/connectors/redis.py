"""Re-export of `headrace.connectors.redis.sink_builder`, under PyFlink's module path."""

from headrace.connectors.redis.sink_builder import (
    RedisCommand as RedisCommand,
)
from headrace.connectors.redis.sink_builder import (
    RedisSink as RedisSink,
)
from headrace.connectors.redis.sink_builder import (
    RedisSinkBuilder as RedisSinkBuilder,
)
