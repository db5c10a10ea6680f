"""A sink of commands for Redis. Only commands that do the same when they are done twice: so at least once is enough.

1. The commands of records are gathered and sent as pipelines of at most `_BATCH`; the end of an epoch waits for the last.
2. If the server is away, the whole pipeline is sent again, in its order, until it is back or patience ends.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from headrace.connectors.base.sink import EpochEnd, RecordError, Sink, SinkWriter, WriterContext
from headrace.errors import ConfigurationError, JobExecutionError
from headrace.foundation.extras import need

_LOG = logging.getLogger("headrace.redis")
_BATCH = 5000
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0

Commands = list[tuple[Any, ...]]


class RedisCommands(Sink):
    """Sends what `commands_of` makes of each record to the server at `url`."""

    def __init__(
        self, url: str, commands_of: Callable[[Any], Commands], options: dict[str, Any], patience: float
    ) -> None:
        self.url, self.commands_of, self.options, self.patience = url, commands_of, options, patience

    def open_writer(self, context: WriterContext, states: list[Any]) -> SinkWriter:
        return _Writer(self)


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
        commands_of, value = self._sink.commands_of, None
        try:
            for value in values:
                self._waiting += commands_of(value)
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
        deadline, pause = time.monotonic() + self._sink.patience, _FIRST_PAUSE
        while True:
            try:
                return self._pipeline(commands)
            except self._redis.exceptions.AuthenticationError as error:
                raise ConfigurationError(f"Redis refuses the user or its password: {error}") from None
            except away as error:
                if time.monotonic() > deadline:
                    raise JobExecutionError(
                        f"Redis does not answer for {self._sink.patience:.0f} s: {error}",
                        remedy="see to the server; the job goes on from its checkpoint, and sends these again",
                    ) from error
                _LOG.warning("Redis is away, another try follows: %s", error)
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
