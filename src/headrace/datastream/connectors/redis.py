"""Re-export of `headrace.connectors.redis.sink_builder`, under PyFlink's module path."""

from headrace.connectors.redis.sink_builder import (
    RedisCommand,
    RedisSink,
    RedisSinkBuilder,
)

__all__ = [
    "RedisCommand",
    "RedisSink",
    "RedisSinkBuilder",
]
