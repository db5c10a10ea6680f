"""RedisSink: results to keys of Redis. PyFlink has no such sink.

Only commands that have the same effect when they are repeated are offered, so at-least-once delivery is enough.

1. The commands of records are collected and sent as pipelines of at most `_BATCH`; the end of an epoch waits for the last.
2. While the server is away, the whole pipeline is sent again, in order, until the server is back or the retry time is over.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from headrace.connectors.base import definitions
from headrace.connectors.base.sink import Sink
from headrace.connectors.base.sink_writer import EpochEnd, RecordError, SinkWriter, WriterContext
from headrace.errors import ConfigurationError, InvalidProgramError, JobExecutionError, TypeMismatchError
from headrace.foundation.extras import need

__all__ = ["RedisCommand", "RedisSink", "RedisSinkBuilder"]

_LOG = logging.getLogger("headrace.redis")
_BATCH = 5000
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0
_RETRY_SECONDS = 120.0

Commands = list[tuple[Any, ...]]


@dataclass(frozen=True)
class RedisCommand:
    """A command that can be repeated; keys and values are strings, bytes or numbers.

    >>> RedisCommand.hset("user:7", {"name": "Ada", "orders": 3})
    RedisCommand(parts=('HSET', 'user:7', 'name', 'Ada', 'orders', 3))
    """

    parts: tuple[Any, ...]

    @staticmethod
    def set(key: Any, value: Any, expire_seconds: int | None = None) -> RedisCommand:
        """Set a key; with ``expire_seconds`` for that time."""
        return RedisCommand(("SET", key, value, *(() if expire_seconds is None else ("EX", expire_seconds))))

    @staticmethod
    def delete(key: Any) -> RedisCommand:
        """Remove a key."""
        return RedisCommand(("DEL", key))

    @staticmethod
    def hset(key: Any, fields: Mapping[Any, Any]) -> RedisCommand:
        """Set fields of a hash."""
        return RedisCommand(("HSET", key, *(part for item in fields.items() for part in item)))

    @staticmethod
    def hdel(key: Any, *fields: Any) -> RedisCommand:
        """Remove fields of a hash."""
        return RedisCommand(("HDEL", key, *fields))

    @staticmethod
    def sadd(key: Any, *members: Any) -> RedisCommand:
        """Add members to a set."""
        return RedisCommand(("SADD", key, *members))

    @staticmethod
    def srem(key: Any, *members: Any) -> RedisCommand:
        """Remove members of a set."""
        return RedisCommand(("SREM", key, *members))

    @staticmethod
    def zadd(key: Any, scores: Mapping[Any, float]) -> RedisCommand:
        """Set the scores of members of a sorted set."""
        return RedisCommand(("ZADD", key, *(part for member, score in scores.items() for part in (score, member))))

    @staticmethod
    def zrem(key: Any, *members: Any) -> RedisCommand:
        """Remove members of a sorted set."""
        return RedisCommand(("ZREM", key, *members))


class RedisSink(definitions.Sink):
    """Writes each record as commands of Redis; needs ``headrace[redis]``.

    >>> sink = RedisSink.builder("redis://localhost:6379/0").set_mapper(lambda pair: RedisCommand.set(*pair)).build()
    >>> isinstance(sink, definitions.Sink)
    True
    """

    @staticmethod
    def builder(url: str) -> RedisSinkBuilder:
        """Return a builder for the server at ``redis://user:password@host:port/database``; ``rediss:`` and ``unix:`` too."""
        return RedisSinkBuilder(url)


class RedisSinkBuilder:
    """Collects the parts of a Redis sink.

    >>> builder = RedisSink.builder("redis://localhost").set_retry_seconds(30)
    >>> type(builder.set_mapper(lambda name: RedisCommand.sadd("names", name)).build()).__name__
    'RedisSink'
    """

    def __init__(self, url: str) -> None:
        """Programs call `RedisSink.builder`."""
        if not isinstance(url, str) or "://" not in url:
            raise TypeMismatchError("Redis is named by a URL", seen=url, expected="redis://host:port/database")
        self._url = url
        self._mapper: Callable[[Any], Any] | None = None
        self._options: dict[str, Any] = {}
        self._retry_seconds = _RETRY_SECONDS

    def set_mapper(self, mapper: Callable[[Any], Any]) -> RedisSinkBuilder:
        """Set the function that turns a record into a `RedisCommand` or a list of them."""
        if not callable(mapper):
            raise TypeMismatchError("set_mapper takes a function", seen=mapper)
        self._mapper = mapper
        return self

    def set_retry_seconds(self, seconds: float) -> RedisSinkBuilder:
        """Set how long to wait for a server that is away before the job fails (120)."""
        self._retry_seconds = seconds
        return self

    def set_client_option(self, name: str, value: Any) -> RedisSinkBuilder:
        """Set an option of redis-py's client, such as ``socket_timeout``."""
        self._options[name] = value
        return self

    def build(self) -> RedisSink:
        """Return the sink."""
        if self._mapper is None:
            raise InvalidProgramError("A RedisSink needs to know its commands", remedy="call set_mapper()")
        options = {"socket_timeout": 10, "socket_connect_timeout": 5, **self._options}
        return RedisSink(RedisCommands(self._url, self._mapper, options, self._retry_seconds))


@dataclass(frozen=True)
class RedisCommands(Sink):
    """Sends what `mapper` makes of each record to the server at `url`."""

    url: str
    mapper: Callable[[Any], Any]
    options: dict[str, Any]
    retry_seconds: float

    def open_writer(self, context: WriterContext, states: list[Any]) -> SinkWriter:
        return _Writer(self)


def _checked(made: Any) -> Commands:
    commands = made if isinstance(made, (list, tuple)) else [made]
    for command in commands:
        if not isinstance(command, RedisCommand):
            raise TypeMismatchError(
                "The mapper of a RedisSink makes commands",
                seen=command,
                expected="RedisCommand.set(key, value) and the like",
                remedy="INCR, LPUSH and others that add up when repeated are left out: keep sums in state, and set them",
            )
    return [command.parts for command in commands]


class _Writer(SinkWriter):
    def __init__(self, sink: RedisCommands) -> None:
        self._sink = sink
        self._redis = need("redis", "redis", "RedisSink")
        try:
            self._client = self._redis.Redis.from_url(sink.url, **sink.options)
        except (ValueError, TypeError) as error:
            raise ConfigurationError(f"The Redis client refuses its settings: {error}") from None
        self._waiting: Commands = []

    def write(self, values: list[Any], timestamps: list[int | None] | None) -> None:
        mapper, value = self._sink.mapper, None
        try:
            for value in values:
                self._waiting += _checked(mapper(value))
        except Exception as error:
            raise RecordError(value) from error
        if len(self._waiting) >= _BATCH:
            self._send()

    def end_epoch(self, end: EpochEnd) -> list[Any]:
        self._send()
        return []

    def _send(self) -> None:
        while self._waiting:
            self._until_done(self._waiting[:_BATCH])
            del self._waiting[:_BATCH]

    def _until_done(self, commands: Commands) -> None:
        away = (self._redis.exceptions.ConnectionError, self._redis.exceptions.TimeoutError)
        deadline, pause = time.monotonic() + self._sink.retry_seconds, _FIRST_PAUSE
        while True:
            try:
                return self._pipeline(commands)
            except self._redis.exceptions.AuthenticationError as error:
                raise ConfigurationError(f"Redis refuses the user or its password: {error}") from None
            except away as error:
                if time.monotonic() > deadline:
                    raise JobExecutionError(
                        f"Redis does not answer for {self._sink.retry_seconds:.0f} s: {error}",
                        remedy="check the server; the job continues from its checkpoint and sends these again",
                    ) from error
                _LOG.warning("Redis is away; retrying: %s", error)
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _pipeline(self, commands: Commands) -> None:
        pipeline = self._client.pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command)
        for command, answer in zip(commands, pipeline.execute(raise_on_error=False)):
            if isinstance(answer, (self._redis.exceptions.BusyLoadingError, self._redis.exceptions.ConnectionError)):
                raise answer
            if isinstance(answer, Exception):
                raise JobExecutionError(f"Redis refuses a command: {answer}", seen=" ".join(map(repr, command)))

    def close(self) -> None:
        self._client.close()
