"""RedisSink: results to keys of Redis; headrace's own, PyFlink has none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from headrace.connectors.base.definitions import Sink
from headrace.connectors.redis.sink import RedisCommands
from headrace.errors import InvalidProgramError, TypeMismatchError

__all__ = ["RedisCommand", "RedisSink", "RedisSinkBuilder"]

_PATIENCE_SECONDS = 120.0


@dataclass(frozen=True)
class RedisCommand:
    """A command that does the same when it is done twice; keys and values are texts, bytes or numbers.

    >>> RedisCommand.hset("user:7", {"name": "Ada", "orders": 3})
    RedisCommand(parts=('HSET', 'user:7', 'name', 'Ada', 'orders', 3))
    """

    parts: tuple[Any, ...]

    @staticmethod
    def set(key: Any, value: Any, expire_seconds: int | None = None) -> RedisCommand:
        """Set a key, perhaps for a while."""
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


class RedisSink(Sink):
    """Writes each record as commands of Redis; needs ``headrace[redis]``.

    >>> sink = RedisSink.builder("redis://localhost:6379/0").set_mapper(lambda pair: RedisCommand.set(*pair)).build()
    >>> isinstance(sink, Sink)
    True
    """

    @staticmethod
    def builder(url: str) -> RedisSinkBuilder:
        """Start a sink for the server at ``redis://user:password@host:port/database``; ``rediss:`` and ``unix:`` too."""
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
        self._patience = _PATIENCE_SECONDS

    def set_mapper(self, mapper: Callable[[Any], Any]) -> RedisSinkBuilder:
        """Set what makes a `RedisCommand`, or a list of them, of each record."""
        if not callable(mapper):
            raise TypeMismatchError("set_mapper takes a function", seen=mapper)
        self._mapper = mapper
        return self

    def set_retry_seconds(self, seconds: float) -> RedisSinkBuilder:
        """Set how long to wait for a server that is away, before the job fails (120)."""
        self._patience = seconds
        return self

    def set_client_option(self, name: str, value: Any) -> RedisSinkBuilder:
        """Set an option of redis-py's client, such as ``socket_timeout``."""
        self._options[name] = value
        return self

    def build(self) -> RedisSink:
        """Make the sink."""
        if self._mapper is None:
            raise InvalidProgramError("A RedisSink needs to know its commands", remedy="call set_mapper()")
        options = {"socket_timeout": 10, "socket_connect_timeout": 5, **self._options}
        return RedisSink(RedisCommands(self._url, _Commands(self._mapper), options, self._patience))


class _Commands:
    def __init__(self, mapper: Callable[[Any], Any]) -> None:
        self._mapper = mapper

    def __call__(self, record: Any) -> list[tuple[Any, ...]]:
        made = self._mapper(record)
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
